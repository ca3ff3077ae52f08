import { type Duplex, duplexPair, pipeline } from 'node:stream';

/**
 * `curl 'http://…/search?q=кроссовки'` and hand-made clients send UTF-8 in the request target unescaped. Node's parser
 * refuses it, rightly (RFC 3986), while nginx and most servers people know let it pass, so it looks like our fault. Such
 * a request is escaped and given to the server again over a connection in memory.
 *
 * RFC 9112 §3 advises against correcting a request line, lest it slip past a filter in front. What is let through here
 * says the same as its escaped spelling, and only where nothing else can be hidden: the bytes are exactly one head, the
 * method has no body, only bytes above ASCII are touched, and the connection ends with the answer.
 *
 * @returns whether the request is being answered.
 */
export function answerRawTarget(
  connect: (stream: Duplex) => void,
  socket: Duplex,
  packet: Buffer | undefined,
): boolean {
  const head = packet === undefined ? undefined : escapedHead(packet.toString('latin1'));
  if (head === undefined) return false;
  const [inner, outer] = duplexPair();
  // Whose request it is, see client.ts.
  if ('remoteAddress' in socket) Object.assign(inner, { remoteAddress: socket.remoteAddress });
  connect(inner);
  outer.write(head);
  pipeline(outer, socket, () => {
    socket.destroy();
    outer.destroy();
  });
  return true;
}

function escapedHead(text: string): string | undefined {
  const parsed = /^((?:GET|HEAD) )(\/[\x21-\x7e\x80-\xff]*)( HTTP\/1\.[01]\r\n)((?:[^\r\n]+\r\n)*\r\n)$/.exec(text);
  if (parsed === null) return undefined;
  const [, method, target = '', version, fields] = parsed;
  const escaped = target.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return escaped === target ? undefined : `${method}${escaped}${version}Connection: close\r\n${fields}`;
}
