package offline

import (
	"strings"
	"time"
)

// cities maps places to zones, for places that do not name a zone themselves.
var cities = map[string]string{
	"abu dhabi": "Asia/Dubai", "accra": "Africa/Accra", "addis ababa": "Africa/Addis_Ababa", "amsterdam": "Europe/Amsterdam",
	"ankara": "Europe/Istanbul", "athens": "Europe/Athens", "atlanta": "America/New_York", "auckland": "Pacific/Auckland",
	"baghdad": "Asia/Baghdad", "bangalore": "Asia/Kolkata", "bangkok": "Asia/Bangkok", "barcelona": "Europe/Madrid",
	"beijing": "Asia/Shanghai", "berlin": "Europe/Berlin", "bogota": "America/Bogota", "boston": "America/New_York",
	"brisbane": "Australia/Brisbane", "brussels": "Europe/Brussels", "bucharest": "Europe/Bucharest", "budapest": "Europe/Budapest",
	"buenos aires": "America/Argentina/Buenos_Aires", "cairo": "Africa/Cairo", "cape town": "Africa/Johannesburg",
	"caracas": "America/Caracas", "casablanca": "Africa/Casablanca", "chicago": "America/Chicago", "copenhagen": "Europe/Copenhagen",
	"dallas": "America/Chicago", "delhi": "Asia/Kolkata", "denver": "America/Denver", "detroit": "America/Detroit",
	"dhaka": "Asia/Dhaka", "dubai": "Asia/Dubai", "dublin": "Europe/Dublin", "frankfurt": "Europe/Berlin", "geneva": "Europe/Zurich",
	"hamburg": "Europe/Berlin", "hanoi": "Asia/Ho_Chi_Minh", "havana": "America/Havana", "helsinki": "Europe/Helsinki",
	"ho chi minh city": "Asia/Ho_Chi_Minh", "hong kong": "Asia/Hong_Kong", "honolulu": "Pacific/Honolulu", "houston": "America/Chicago",
	"istanbul": "Europe/Istanbul", "jakarta": "Asia/Jakarta", "jerusalem": "Asia/Jerusalem", "johannesburg": "Africa/Johannesburg",
	"karachi": "Asia/Karachi", "kathmandu": "Asia/Kathmandu", "kinshasa": "Africa/Kinshasa", "kolkata": "Asia/Kolkata",
	"kuala lumpur": "Asia/Kuala_Lumpur", "kyiv": "Europe/Kyiv", "kyoto": "Asia/Tokyo", "lagos": "Africa/Lagos", "lima": "America/Lima",
	"lisbon": "Europe/Lisbon", "london": "Europe/London", "los angeles": "America/Los_Angeles", "madrid": "Europe/Madrid",
	"manila": "Asia/Manila", "melbourne": "Australia/Melbourne", "mexico city": "America/Mexico_City", "miami": "America/New_York",
	"milan": "Europe/Rome", "montreal": "America/Toronto", "moscow": "Europe/Moscow", "mumbai": "Asia/Kolkata", "munich": "Europe/Berlin",
	"nairobi": "Africa/Nairobi", "new delhi": "Asia/Kolkata", "new york": "America/New_York", "new york city": "America/New_York",
	"osaka": "Asia/Tokyo", "oslo": "Europe/Oslo", "paris": "Europe/Paris", "perth": "Australia/Perth", "philadelphia": "America/New_York",
	"prague": "Europe/Prague", "reykjavik": "Atlantic/Reykjavik", "rio de janeiro": "America/Sao_Paulo", "riyadh": "Asia/Riyadh",
	"rome": "Europe/Rome", "san francisco": "America/Los_Angeles", "santiago": "America/Santiago", "sao paulo": "America/Sao_Paulo",
	"são paulo": "America/Sao_Paulo", "seattle": "America/Los_Angeles", "seoul": "Asia/Seoul", "shanghai": "Asia/Shanghai",
	"singapore": "Asia/Singapore", "stockholm": "Europe/Stockholm", "sydney": "Australia/Sydney", "taipei": "Asia/Taipei",
	"tehran": "Asia/Tehran", "tel aviv": "Asia/Jerusalem", "tokyo": "Asia/Tokyo", "toronto": "America/Toronto", "tunis": "Africa/Tunis",
	"vancouver": "America/Vancouver", "vienna": "Europe/Vienna", "warsaw": "Europe/Warsaw", "washington": "America/New_York",
	"zurich": "Europe/Zurich", "zürich": "Europe/Zurich",

	"germany": "Europe/Berlin", "france": "Europe/Paris", "italy": "Europe/Rome", "spain": "Europe/Madrid", "india": "Asia/Kolkata",
	"china": "Asia/Shanghai", "korea": "Asia/Seoul", "south korea": "Asia/Seoul", "california": "America/Los_Angeles",

	"utc": "UTC", "gmt": "UTC", "z": "UTC", "jst": "Asia/Tokyo", "cet": "Europe/Berlin", "cest": "Europe/Berlin",
	"est": "America/New_York", "edt": "America/New_York", "eastern": "America/New_York", "cst": "America/Chicago",
	"central": "America/Chicago", "pst": "America/Los_Angeles", "pdt": "America/Los_Angeles", "pacific": "America/Los_Angeles",
}

var zoneName = lazy(`^[A-Za-z]+(?:[/_+-][A-Za-z0-9]+)*$`)

// zoneOf returns the IANA zone of a place: a big city, a zone name, or a
// country in the zone database.
func zoneOf(place string) (string, bool) {
	place = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(place)), " time")
	place = strings.TrimPrefix(strings.TrimSuffix(place, "'s"), "the ")
	if zone, ok := cities[place]; ok {
		return zone, true
	}
	name := strings.ReplaceAll(place, " ", "_")
	if len(name) < 3 || !zoneName().MatchString(name) || name == "local" {
		return "", false
	}
	for _, spelling := range []string{titled(name), strings.ToUpper(name)} {
		if _, err := time.LoadLocation(spelling); err == nil {
			return spelling, true
		}
	}
	return "", false
}

// titled capitalizes a zone name as in the zone database.
func titled(name string) string {
	b := []byte(name)
	begins := true
	for i, c := range b {
		if begins && 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
		begins = c == '/' || c == '_' || c == '-'
	}
	return string(b)
}
