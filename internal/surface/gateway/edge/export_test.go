package edge

import "chela/internal/api"

// Len returns how many senders are remembered.
func (m *Meter) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.buckets)
}

// DecodeMessage takes the body of a message apart.
func DecodeMessage(raw []byte, into *api.Message) error {
	limits, err := api.Schemas().Of(*into)
	if err != nil {
		return err
	}
	return decode(raw, limits, into)
}
