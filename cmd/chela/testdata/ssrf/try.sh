# Tries the requests in raw.txt and the URLs in urls.txt through the proxy of the
# sandbox, and the URLs without it. A line of a result is a status and what was tried.
trap '' PIPE # the proxy ends the connection of a line that is no request
token=${http_proxy#*://}
token=${token%@*}
token=${token#*:}
while IFS= read -r request; do
	exec 3<>"/dev/tcp/127.0.0.1/3128" || exit
	printf '%s HTTP/1.1\r\nHost: public.example\r\nProxy-Authorization: Bearer %s\r\nConnection: close\r\n\r\n' "$request" "$token" >&3 2>/dev/null
	IFS= read -r status <&3
	printf '%s\t%s\n' "${status%$'\r'}" "$request"
	exec 3>&-
done <raw.txt >raw.out

while IFS= read -r url; do
	printf 'url = "%s"\noutput = /dev/null\n' "$url"
done <urls.txt >curl.txt
tried='%{http_code}%{http_connect}\t%{url}\n'
curl -s -g -L -k --noproxy '' -m 20 --max-redirs 5 -w "$tried" -K curl.txt >proxy.out
curl -s -g -k --noproxy '*' --connect-timeout 2 -w "$tried" -K curl.txt >direct.out
curl -s -S http://10.0.0.1/ >inner.out
true
