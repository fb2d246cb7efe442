package tool

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timeFormats are the formats with a name.
var timeFormats = map[string]string{
	"":         time.RFC3339,
	"rfc3339":  time.RFC3339,
	"iso8601":  time.RFC3339,
	"rfc1123":  time.RFC1123Z,
	"rfc822":   time.RFC822Z,
	"date":     time.DateOnly,
	"time":     time.TimeOnly,
	"datetime": time.DateTime,
}

// timeCodes maps the codes of a pattern to Go layouts; they mean the same as in
// C's strftime.
var timeCodes = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05",
	'p': "PM", 'A': "Monday", 'a': "Mon", 'B': "January", 'b': "Jan", 'j': "002", 'Z': "MST", 'z': "-0700",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
}

// formatTime writes t in a named format or by a pattern of % codes.
func formatTime(t time.Time, format string) (string, error) {
	switch name := strings.ToLower(format); name {
	case "unix":
		return strconv.FormatInt(t.Unix(), 10), nil
	case "unix_ms":
		return strconv.FormatInt(t.UnixMilli(), 10), nil
	default:
		if layout, ok := timeFormats[name]; ok {
			return t.Format(layout), nil
		}
	}
	if !strings.Contains(format, "%") {
		return "", fmt.Errorf("format: there is no format %.60q; use rfc3339, rfc1123, rfc822, date, time, datetime, unix, unix_ms or a pattern such as %%d %%B %%Y", format)
	}
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) {
			return "", fmt.Errorf("format: the pattern ends in a lone %%; write %%%% for a percent sign")
		}
		text, ok := timeCode(t, format[i])
		if !ok {
			return "", fmt.Errorf("format: there is no code %q; there are %%Y %%y %%m %%d %%e %%H %%I %%M %%S %%f %%p %%A %%a %%B %%b %%j %%Z %%z %%F %%T %%R %%D %%s %%u %%V %%G %%%%", "%"+string(rune(format[i])))
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func timeCode(t time.Time, code byte) (string, bool) {
	year, week := t.ISOWeek()
	switch code {
	case '%':
		return "%", true
	case 's':
		return strconv.FormatInt(t.Unix(), 10), true
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1), true
	case 'V':
		return fmt.Sprintf("%02d", week), true
	case 'G':
		return strconv.Itoa(year), true
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), true
	default:
		layout, ok := timeCodes[code]
		return t.Format(layout), ok
	}
}

// parseUnix reads whole seconds (up to 11 digits) or milliseconds (12 or 13)
// since 1970.
func parseUnix(text string) (time.Time, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	digits := len(strings.TrimPrefix(text, "-"))
	switch {
	case err != nil || digits < 5 || digits > 13:
		return time.Time{}, false // short numbers are years or hours
	case digits >= 12:
		return time.UnixMilli(n), true
	default:
		return time.Unix(n, 0), true
	}
}
