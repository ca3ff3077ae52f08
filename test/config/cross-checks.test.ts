import { goods, testFaults, withEngine, withStore } from './harness.ts';

testFaults([
  [
    'a deadline above the hard deadline is a fault, even when one of the two is a default',
    goods('engine: { kind: sphinx, host: s, deadline: 4s }'),
    [['domains.goods.engine.deadline', '4s', /at most hardDeadline \(3s\)/]],
  ],
  [
    'a patience below the engine’s deadline is a fault, even when the deadline is a default',
    goods('engine: { kind: sphinx, host: s, deadline: 900ms }\npatience: 800ms'),
    [['domains.goods.patience', '800ms', /at least engine\.deadline \(900ms\)/]],
  ],
  [
    'a currency on an attribute that is not a number is a fault',
    withEngine('attributes: { city: { type: string, currency: EUR }, day: { type: date, currency: EUR } }'),
    [
      ['domains.goods.attributes.city.currency', 'EUR', /type integer or number only/],
      ['domains.goods.attributes.day.currency', 'EUR', /type integer or number only/],
    ],
  ],
  [
    'a format of digits for a day, of days for a number, and of anything for a text, are faults',
    withEngine(
      'attributes: { a: { type: date, format: "1,299.50" }, b: { type: number, format: DD/MM/YYYY }, c: { type: string, format: MM/DD/YYYY } }',
    ),
    [
      ['domains.goods.attributes.a.format', '1,299.50', /digits with type integer or number/],
      ['domains.goods.attributes.b.format', 'DD/MM/YYYY', /days with type date/],
      ['domains.goods.attributes.c.format', 'MM/DD/YYYY', /days with type date/],
    ],
  ],
  [
    'a column, or raw HTML, of a field that the domain does not have is a fault',
    withEngine('attributes: { a: { type: string } }\ncatalogue: { columns: { id: Nr, a: A, b: B }, raw: [a, c] }'),
    [
      ['domains.goods.catalogue', 'b', /one of id, title, description, a/],
      ['domains.goods.catalogue', 'c', /one of id, title, description, a/],
    ],
  ],
  [
    'a stream of changes that is of serpcache itself is a fault: the feed would feed itself',
    withEngine(
      'store: { kind: standalone, nodes: ["127.0.0.1:6379"] }\nchanges: { stream: { key: "sc1:goods:{control:goods}:changes" } }',
    ),
    [
      [
        'domains.goods.changes.stream.key',
        '"sc1:goods:{control:goods}:changes"',
        /a name that does not begin with sc1:, as those of serpcache do/,
      ],
    ],
  ],
  [
    'a currency that is not a code is a fault that shows codes',
    withEngine('attributes: { price: { type: number, currency: euro } }'),
    [['domains.goods.attributes.price.currency', '"euro"', /ISO 4217 code such as EUR/]],
  ],
  [
    'an attribute with several values that is sorted, and a separator without several values, are faults',
    withEngine(
      'attributes: { sizes: { type: string, multiple: true, sort: true }, city: { type: string, separator: "|" } }',
    ),
    [
      ['domains.goods.attributes.sizes.sort', 'true', /false with multiple: .* no one place in an order/],
      ['domains.goods.attributes.city.separator', '"|"', /nothing without multiple: true/],
    ],
  ],
  [
    'a separator has 1 to 8 characters',
    withEngine(
      'attributes: { a: { type: string, multiple: true, separator: "" }, b: { type: string, multiple: true, separator: ",,,,,,,,," } }',
    ),
    [
      ['domains.goods.attributes.a.separator', '""', /1 to 8 characters/],
      ['domains.goods.attributes.b.separator', '",,,,,,,,,"', /1 to 8 characters/],
    ],
  ],
  [
    'an attribute with several fractions is a fault with an engine that has no lists of them',
    goods('engine: { kind: sphinx, host: s }\nattributes: { widths: { type: number, multiple: true } }'),
    [['domains.goods.attributes.widths.type', '"number"', /string, integer or date: engine sphinx/]],
  ],
  [
    'a store deadline that is not below its socket timeout is a fault',
    withStore('{ kind: cluster, nodes: [a:1], deadline: 3s }'),
    [['domains.goods.store.deadline', '3s', /less than socketTimeout \(3s\)/]],
  ],
  [
    'a batch larger than maxOutstanding is a fault',
    withStore('{ kind: cluster, nodes: [a:1], maxOutstanding: 100 }'),
    [['domains.goods.store.batchSize', '128', /at most maxOutstanding \(100\)/]],
  ],
  [
    'a maxConcurrent above the workers of an embedded index is a fault',
    goods('engine: { kind: sqlite, maxConcurrent: 8 }'),
    [['domains.goods.engine.maxConcurrent', '8', /at most workers \(2\)/]],
  ],
  [
    'domains that ask for more memory than maxBytes are a fault with the sum',
    `memory: { maxBytes: 100MiB }
domains:
  a: { engine: { kind: sqlite }, memory: { maxBytes: 60MiB } }
  b: { engine: { kind: sqlite }, memory: { maxBytes: 60MiB } }
  c: { engine: { kind: sqlite } }
`,
    [['memory.maxBytes', '100MiB', /at least 121MiB: the domains ask for 120MiB, and 1MiB for each of the 1 others/]],
  ],
  [
    'a share for empty pages that takes all memory, and an entry larger than memory, are faults',
    withEngine('memory: { maxBytes: 1MiB, emptyMaxBytes: 1MiB }\nmaxEntryBytes: 2MiB'),
    [
      ['domains.goods.memory.emptyMaxBytes', '1MiB', /less than memory.maxBytes \(1MiB\)/],
      ['domains.goods.maxEntryBytes', '2MiB', /at most memory.maxBytes \(1MiB\)/],
    ],
  ],
  [
    'two domains on one store and database are a fault in each, for every name and kind of the store',
    `domains:
  a: { engine: { kind: sqlite }, store: { kind: cluster, nodes: ["LOCALHOST:6379"] } }
  b: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["127.0.0.1:6379"] } }
  c: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["127.0.0.1:6379"], database: 1 } }
`,
    [
      ['domains.a.store', '127.0.0.1:6379, database 0', /shared: true wherever it is named \(b names it too\)/],
      ['domains.b.store', '127.0.0.1:6379, database 0', /a names it too/],
    ],
  ],
  [
    'a store is shared only when every domain that names it sets shared',
    `domains:
  a: { engine: { kind: sqlite }, store: { kind: sentinel, sentinels: [s:1], master: m, shared: true } }
  b: { engine: { kind: sqlite }, store: { kind: sentinel, sentinels: [t:1, s:1], master: m } }
`,
    [['domains.b.store', 'master m of s:1, database 0', /a names it too/]],
  ],
  [
    'the control store and the counter store are checked as any other store',
    `control: { kind: standalone, nodes: ["a:1"], deadline: 5s, socketTimeout: 1s }
counters: { kind: cluster, nodes: ["b:1", "b:1"] }
domains:
  a: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["a:1"] } }
`,
    [
      ['control.deadline', '5s', /less than socketTimeout \(1s\)/],
      ['control', 'a:1, database 0', /a names it too/],
      ['counters.nodes[1]', '"b:1"', /each node once/],
      ['domains.a.store', 'a:1, database 0', /control names it too/],
    ],
  ],
  [
    'a store that is shared cannot be dedicated',
    'domains: { a: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["a:1"], shared: true, dedicated: true } } }\n',
    [['domains.a.store.dedicated', 'true', /take the other domain along/]],
  ],
  [
    'natMap names each announced address once, with ports that exist, and leads to host:port',
    withStore(`{ kind: cluster, nodes: ["a:1"], natMap: {
      "10.0.0.5:6379": "gate:7001", "Node-A:6379": "gate:7002", "node-a:6379": "gate:7003",
      "10.0.0.6:99999": "gate:7004", "10.0.0.7": "gate:7005", "10.0.0.8:6379": "gate" } }`),
    [
      ['domains.goods.store.natMap["node-a:6379"]', '"node-a:6379"', /each announced address once/],
      ['domains.goods.store.natMap["10.0.0.6:99999"]', '"10.0.0.6:99999"', /a port from 1 to 65535/],
      ['domains.goods.store.natMap["10.0.0.7"]', '"10.0.0.7"', /host:port as the servers announce it/],
      ['domains.goods.store.natMap["10.0.0.8:6379"]', '"gate"', /host:port/],
    ],
  ],
  [
    'natMap is a setting of clusters and sentinels: one server announces no address',
    withStore('{ kind: standalone, nodes: ["a:1"], natMap: { "b:1": "c:1" } }'),
    [['domains.goods.store.natMap', '***', /no such setting/]],
  ],
  [
    'a Unix socket is an absolute path that the system can take, without TLS, and for one server only',
    `domains:
  a: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["unix:redis.sock"] } }
  b: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["unix:/${'é'.repeat(54)}"] } }
  c: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["unix:/run/redis.sock"], tls: {} } }
  d: { engine: { kind: sqlite }, store: { kind: standalone, nodes: ["unix:///run/redis.sock"] } }
  e: { engine: { kind: sqlite }, store: { kind: cluster, nodes: ["unix:/run/other.sock"] } }
`,
    [
      ['domains.a.store.nodes[0]', '"unix:redis.sock"', /unix: and the absolute path of a socket/],
      ['domains.b.store.nodes[0]', `"unix:/${'é'.repeat(54)}"`, /unix: and the absolute path of a socket/],
      ['domains.c.store.tls', 'a section', /nothing with a Unix socket/],
      ['domains.c.store', 'unix:/run/redis.sock, database 0', /d names it too/],
      ['domains.d.store', 'unix:/run/redis.sock, database 0', /c names it too/],
      ['domains.e.store.nodes[0]', '"unix:/run/other.sock"', /host:port/],
    ],
  ],
  [
    'a domain name outside the pattern is a fault',
    'domains: { Goods: { engine: { kind: sqlite } }, "": { engine: { kind: sqlite } } }\n',
    [
      ['domains.Goods', '"Goods"', /a lower-case letter/],
      ['domains[""]', '""', /a lower-case letter/],
    ],
  ],
  ['no domains at all are a fault', 'domains: {}\n', [['domains', '0 names', /1 to 64/]]],
  [
    'an attribute that collides with a request parameter, or is misnamed, is a fault',
    withEngine('attributes: { page: { type: string }, relevance: { type: integer }, "Цена": { type: number } }'),
    [
      ['domains.goods.attributes["Цена"]', '"Цена"', /an attribute name/],
      ['domains.goods.attributes.page', 'page', /any name but q, domain, page, limit, sort, filter, facet, highlight/],
      ['domains.goods.attributes.relevance', 'relevance', /any name but/],
    ],
  ],
  [
    'an attribute of an unknown type, or without one, is a fault',
    withEngine('attributes: { a: { type: float }, b: {}, c: }'),
    [
      ['domains.goods.attributes.a.type', '"float"', /string, integer, number or date/],
      ['domains.goods.attributes.b.type', '(missing)', /required/],
      ['domains.goods.attributes.c.type', '(missing)', /required/],
    ],
  ],
  [
    'context values that are empty, not plain or equal are faults',
    withEngine(
      'context: { r: { source: query, values: [] }, v: { source: cookie, values: [a, "", " b", a, 7] }, q: { source: query, values: [x] } }',
    ),
    [
      ['domains.goods.context.r.values', 'a list of 0', /1 to 256/],
      ['domains.goods.context.v.source', '"cookie"', /query or header/],
      ['domains.goods.context.v.values[1]', '""', /1 to 64 characters/],
      ['domains.goods.context.v.values[4]', '7', /numbers in quotes/],
      ['domains.goods.context.v.values[2]', '" b"', /neither starts nor ends with a space/],
      ['domains.goods.context.v.values[3]', '"a"', /each value once/],
      ['domains.goods.context.q', 'q', /any name but/],
    ],
  ],
  [
    'an admin listener outside loopback without a token is a fault',
    'admin: { host: "::" }\n',
    [['admin.token', '(missing)', /a token, as admin.host "::" is not a loopback address/]],
  ],
  [
    'a short token is a fault that tells how to make one and does not show it',
    'admin: { token: nineteen-characters }\n',
    [['admin.token', '***', /20 to 512 .* at least 8 different .* node -p "require\('crypto'\)/]],
  ],
  [
    'a token of few different characters is a fault, however long it is',
    `admin: { token: ${'abcdefg'.repeat(20)} }\n`,
    [['admin.token', '***', /at least 8 different ones; this makes one: node -p/]],
  ],
  [
    'a signing key that is too short is a fault that tells how to make one and does not show it',
    'signing: { key: hunter2 }\n',
    [['signing.key', '***', /32 to 512 .*openssl rand -hex 32/]],
  ],
  [
    'a previous key or acceptUnsigned without a signing key is a fault',
    `signing: { previousKey: ${'p'.repeat(32)}, acceptUnsigned: true }\n`,
    [
      ['signing.previousKey', '***', /nothing without signing.key/],
      ['signing.acceptUnsigned', 'true', /nothing without signing.key/],
    ],
  ],
  [
    'the same key as key and previousKey is a fault',
    `signing: { key: ${'k'.repeat(32)}, previousKey: ${'k'.repeat(32)} }\n`,
    [['signing.previousKey', '***', /another key than signing.key/]],
  ],
  [
    'both listeners on one port are a fault, a wildcard address included',
    'public: { host: 0.0.0.0, port: 9 }\nadmin: { port: 9 }\n',
    [['admin.port', '9', /another port than public.port/]],
  ],
  [
    'each trusted proxy that is neither an address nor a network is a fault',
    'public: { trustedProxies: [10.0.0.0/8, 10.0.0.0/33, proxy.internal, 192.168.1, "::1", "fd00::/129", "fd00::/8", "::ffff:10.0.0.0/104", 10.0.0.0/08, 1.2.3.4/] }\n',
    [
      ['public.trustedProxies[1]', '"10.0.0.0/33"', /an IP address or a network, such as 10\.0\.0\.0\/8/],
      ['public.trustedProxies[2]', '"proxy.internal"', /an IP address/],
      ['public.trustedProxies[3]', '"192.168.1"', /an IP address/],
      ['public.trustedProxies[5]', '"fd00::/129"', /an IP address/],
      ['public.trustedProxies[7]', '"::ffff:10.0.0.0/104"', /an IP address/],
      ['public.trustedProxies[8]', '"10.0.0.0/08"', /an IP address/],
      ['public.trustedProxies[9]', '"1.2.3.4/"', /an IP address/],
    ],
  ],
  [
    'TLS files that are missing or no PEM are faults, and a certificate needs its key',
    withStore('{ kind: cluster, nodes: [a:1], tls: { ca: nope.pem, cert: text.pem } }'),
    [
      ['domains.goods.store.tls.key', '(missing)', /the private key of cert/],
      ['domains.goods.store.tls.ca', '"nope.pem"', /a file that can be read \(ENOENT\)/],
      ['domains.goods.store.tls.cert', '"text.pem"', /a PEM file/],
    ],
  ],
  [
    'a mapping in place of a value is a fault, and a value in place of a mapping',
    'public: 8080\nmemory: [1]\nlog: { level: { a: 1 } }\n',
    [
      ['public', '8080', /a mapping of host, port/],
      ['memory', 'a list of 1', /a mapping of maxBytes/],
      ['log.level', 'a mapping', /trace/],
    ],
  ],
  [
    'an engine address or an index with characters beyond a name is a fault',
    goods("engine: { kind: sphinx, host: 'a b', index: 'x; y', ranker: \"expr('1')) --\" }"),
    [
      ['domains.goods.engine.host', '"a b"', /a host name or an IP address/],
      ['domains.goods.engine.index', '"x; y"', /letters, digits and _/],
      ['domains.goods.engine.ranker', '"expr(\'1\')) --"', /proximity_bm25/],
    ],
  ],
]);
