/** Fields of a request in their order: name, value. Without Host, which each client sends for itself. */
export type HeadFields = readonly (readonly [name: string, value: string])[];

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const COOKIE =
  '_ga=GA1.1.1402365801.1763111111; _ga_7K2X=GS2.1.s1763990000$o14$g1$t1763990412$j33$l0$h0; sid=Zk3v0p2Qm8rWc1; theme=dark; ab=search-b';

/**
 * The fields that requests carry when they reach a server behind common proxies, from tracing clients, and directly from
 * browsers and crawlers. Written for this file after the public descriptions of each; names and order are what matters.
 */
export const PROXY_HEADS: Readonly<Record<string, HeadFields>> = {
  cloudflare: fieldsOf(`
Accept-Encoding: gzip, br
CF-Ray: 9a31c07f5e2b1f44-FRA
X-Forwarded-For: 203.0.113.77
CF-Visitor: {"scheme":"https"}
X-Forwarded-Proto: https
CF-Connecting-IP: 203.0.113.77
CF-IPCountry: DE
CDN-Loop: cloudflare; loops=1
CF-IPCity: K\u00f6ln
User-Agent: ${CHROME}
Accept: application/json, text/plain, */*
Accept-Language: de-DE,de;q=0.9,en;q=0.8
Referer: https://shop.example/search?q=shoes
Sec-CH-UA: "Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"
Sec-CH-UA-Mobile: ?0
Sec-CH-UA-Platform: "Windows"
Sec-Fetch-Site: same-origin
Sec-Fetch-Mode: cors
Sec-Fetch-Dest: empty
Cookie: ${COOKIE}; __cf_bm=8XyVd0w2v1.Hq7
Priority: u=1, i
Connection: Keep-Alive
`),
  'envoy with B3': fieldsOf(`
user-agent: okhttp/4.12.0
accept: application/json
accept-encoding: gzip
x-forwarded-for: 10.244.1.17
x-forwarded-proto: http
x-envoy-internal: true
x-request-id: 6f1c2a9e-1c53-9d0b-a7cf-3f2d1a5be001
x-envoy-decorator-operation: search.shop.svc.cluster.local:8080/*
x-envoy-peer-metadata-id: sidecar~10.244.1.17~web-7d9c5f6b8-x2x4q.shop~shop.svc.cluster.local
x-envoy-peer-metadata: ChkKDkFQUF9DT05UQUlORVJTEgcaBXdlYjEK
x-envoy-attempt-count: 1
x-envoy-expected-rq-timeout-ms: 1500
x-forwarded-client-cert: By=spiffe://cluster.local/ns/shop/sa/search;Hash=4c1f0a2b;Subject="";URI=spiffe://cluster.local/ns/shop/sa/web
x-b3-traceid: 80f198ee56343ba864fe8b2a57d3eff7
x-b3-spanid: e457b5a2e4d86bd1
x-b3-parentspanid: 05e3ac9a4f6e3b90
x-b3-sampled: 1
`),
  'google cloud': fieldsOf(`
User-Agent: Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36
Accept: */*
Accept-Encoding: gzip, deflate, br, zstd
Accept-Language: en-US,en;q=0.9
X-Cloud-Trace-Context: b1f2c3d4e5f60718293a4b5c6d7e8f90/1234567890123456789;o=1
Traceparent: 00-b1f2c3d4e5f60718293a4b5c6d7e8f90-112210f47de98115-01
Via: 1.1 google
X-Forwarded-For: 198.51.100.24, 34.98.100.7
X-Forwarded-Proto: https
X-Client-Geo-Location: US,Mountain View
X-Client-Data: CIa2yQEIorbJAQipncoB
Connection: Keep-Alive
`),
  'aws load balancer': fieldsOf(`
X-Forwarded-For: 192.0.2.61
X-Forwarded-Proto: https
X-Forwarded-Port: 443
X-Amzn-Trace-Id: Root=1-6927f1aa-5d2f0a1b3c4d5e6f70819203
X-Amz-Cf-Id: vJpL0pY1ZQ2xQd8c0ZrP6wTLBxKq9x5uH1r3m2n4aXkQ8b7yTzJQ==
Via: 2.0 5c1f0a2b3d4e5f60718293a4b5c6d7e8.cloudfront.net (CloudFront)
CloudFront-Viewer-Country: GB
CloudFront-Is-Mobile-Viewer: false
CloudFront-Forwarded-Proto: https
user-agent: Amazon CloudFront
accept: application/json
accept-encoding: gzip
`),
  haproxy: fieldsOf(`
user-agent: python-requests/2.32.3
accept-encoding: gzip, deflate
accept: */*
x-forwarded-for: 198.51.100.200
x-unique-id: CB0071A5:D6F2_0A000001:1F90_6927F1AA_0012:0007
x-ssl-client-verify: 0
x-forwarded-for: 10.0.0.9
`),
  datadog: fieldsOf(`
accept: application/json
x-datadog-trace-id: 1894212351234567890
x-datadog-parent-id: 7654321098765432109
x-datadog-sampling-priority: 1
x-datadog-origin: rum
x-datadog-tags: _dd.p.dm=-1,_dd.p.tid=6927f1aa00000000
traceparent: 00-6927f1aa000000001a49a2a2c2b5d2d2-6a39e8c9d1f2a3b4-01
tracestate: dd=s:1;o:rum;t.dm:-1;t.tid:6927f1aa00000000
user-agent: node
accept-language: *
sec-fetch-mode: cors
accept-encoding: gzip, deflate
connection: keep-alive
`),
  sentry: fieldsOf(`
sentry-trace: 771a43a4192642f0b136d5159a501700-b0e6f15b45c36b12-1
baggage: sentry-trace_id=771a43a4192642f0b136d5159a501700,sentry-public_key=49d0f7386ad645858ae85020e393bef3,sentry-sample_rate=0.25,sentry-environment=production,sentry-release=web%402026.11.2
Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.3w1wq0nq9z1Yx2
User-Agent: axios/1.7.9
Accept: application/json, text/plain, */*
Accept-Encoding: gzip, compress, deflate, br
Content-Length: 0
Connection: keep-alive
`),
  chrome: fieldsOf(`
Connection: keep-alive
sec-ch-ua: "Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"
sec-ch-ua-mobile: ?0
sec-ch-ua-platform: "Windows"
sec-ch-prefers-color-scheme: dark
Upgrade-Insecure-Requests: 1
User-Agent: ${CHROME}
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7
Sec-Fetch-Site: none
Sec-Fetch-Mode: navigate
Sec-Fetch-User: ?1
Sec-Fetch-Dest: document
Sec-Fetch-Storage-Access: active
Accept-Encoding: gzip, deflate, br, zstd
Accept-Language: en-US,en;q=0.9,de;q=0.8
Cookie: ${COOKIE}
`),
  firefox: fieldsOf(`
User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
Accept-Language: de,en-US;q=0.7,en;q=0.3
Accept-Encoding: gzip, deflate, br, zstd
Sec-GPC: 1
DNT: 1
Alt-Used: shop.example
Connection: keep-alive
Cookie: ${COOKIE}
Upgrade-Insecure-Requests: 1
Sec-Fetch-Dest: document
Sec-Fetch-Mode: navigate
Sec-Fetch-Site: cross-site
Priority: u=0, i
`),
  safari: fieldsOf(`
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
Sec-Fetch-Site: none
Cookie: ${COOKIE}
Sec-Fetch-Dest: document
Accept-Language: en-GB,en;q=0.9
Sec-Fetch-Mode: navigate
User-Agent: Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15
Accept-Encoding: gzip, deflate
Priority: u=0, i
Connection: keep-alive
`),
  googlebot: fieldsOf(`
Connection: keep-alive
Accept: text/html,application/xhtml+xml,application/signed-exchange;v=b3,application/xml;q=0.9,*/*;q=0.8
From: googlebot(at)googlebot.com
User-Agent: Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)
Accept-Encoding: gzip, deflate, br
If-Modified-Since: Tue, 24 Nov 2026 08:12:31 GMT
AMP-Cache-Transform: google;v="1..8"
`),
  bingbot: fieldsOf(`
Cache-Control: no-cache
Connection: Keep-Alive
Pragma: no-cache
Accept: */*
Accept-Encoding: gzip, deflate, br
From: bingbot(at)microsoft.com
User-Agent: Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36
X-MSEdge-ClientIP: 157.55.39.10
`),
};

function fieldsOf(head: string): HeadFields {
  return Array.from(head.matchAll(/^(.+?): (.*)$/gm), ([, name = '', value = '']) => [name, value] as const);
}
