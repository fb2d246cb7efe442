package field

import (
	"fmt"
	"time"
)

// A DayTime is a time of day, or none.
type DayTime struct {
	Set          bool
	Hour, Minute int
}

// String returns the time as 15:04, or "off" for none.
func (d DayTime) String() string {
	if !d.Set {
		return "off"
	}
	return fmt.Sprintf("%02d:%02d", d.Hour, d.Minute)
}

// TimeOfDay is a field for a time of day; "off" and the empty text are none.
func TimeOfDay(at *DayTime) Field {
	return Field{
		Want: `a time of day such as "04:00", or "off"`,
		Put: func(v any) error {
			text, ok := v.(string)
			if ok && (text == "" || text == "off") {
				*at = DayTime{}
				return nil
			}
			t, err := time.Parse("15:04", text)
			if !ok || err != nil {
				return ErrUnwanted
			}
			*at = DayTime{Set: true, Hour: t.Hour(), Minute: t.Minute()}
			return nil
		},
		Show: func() string { return at.String() },
	}
}
