import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A span as it arrived, ids in hexadecimal digits and times in nanoseconds. */
export type ReceivedSpan = ReturnType<typeof decodeRequest>[number];

/** A collector that decodes what it gets. `answer` is called for each request; without it, all are accepted. */
export async function startCollector(
  t: { readonly after: (close: () => Promise<void>) => void },
  answer: (response: ServerResponse) => void = (response) => response.end(),
) {
  const spans: ReceivedSpan[] = [];
  const requests: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    requests.push({ path: request.url ?? '', headers: request.headers });
    const body = Buffer.concat(chunks);
    spans.push(...decodeRequest(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body));
    answer(response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    connections: () => sockets.size,
  };
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const CODES = ['unset', 'ok', 'error'];

/** An `ExportTraceServiceRequest` of OTLP. */
function decodeRequest(body: Buffer) {
  return messages(fieldsOf(body), 1).flatMap((ofResource) => {
    const resource = factsIn(messages(ofResource, 1)[0] ?? new Map(), 1);
    const ofScopes = messages(ofResource, 2).flatMap((scope) => messages(scope, 2));
    return ofScopes.map((span) => {
      const status = messages(span, 15)[0] ?? new Map();
      return {
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        parentId: hex(span, 4),
        name: text(span, 5),
        kind: KINDS[Number(span.get(6)?.[0] ?? 0)] ?? '',
        startNs: span.get(7)?.[0] as bigint,
        endNs: span.get(8)?.[0] as bigint,
        facts: factsIn(span, 9),
        links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
        status: { code: CODES[Number(status.get(3)?.[0] ?? 0)] ?? '', message: text(status, 2) },
        resource,
      };
    });
  });
}

/** Values of a protobuf message by field number: numbers as bigint, everything with a length as bytes. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const read = (wireType: number): bigint | Buffer => {
    if (wireType === 0) return varint();
    const bytes = wireType === 1 ? 8 : wireType === 5 ? 4 : Number(varint());
    at += bytes;
    if (wireType === 1) return message.readBigUInt64LE(at - 8);
    return wireType === 5 ? BigInt(message.readUInt32LE(at - 4)) : message.subarray(at - bytes, at);
  };
  while (at < message.length) {
    const tag = Number(varint());
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), read(tag & 7)]);
  }
  return fields;
}

const bytes = (fields: Fields, field: number): Buffer => (fields.get(field)?.[0] as Buffer) ?? Buffer.alloc(0);
const hex = (fields: Fields, field: number): string => bytes(fields, field).toString('hex');
const text = (fields: Fields, field: number): string => bytes(fields, field).toString();
const messages = (fields: Fields, field: number): readonly Fields[] =>
  (fields.get(field) ?? []).map((value) => fieldsOf(value as Buffer));

function factsIn(fields: Fields, field: number): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    messages(fields, field).map((pair) => {
      const value = messages(pair, 2)[0] ?? new Map();
      const [kind = 0] = value.keys();
      if (kind === 1) return [text(pair, 1), text(value, 1)];
      return [text(pair, 1), kind === 2 ? value.get(2)?.[0] === 1n : Number(value.get(kind)?.[0])];
    }),
  );
}
