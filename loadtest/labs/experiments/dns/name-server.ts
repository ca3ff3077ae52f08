import { createSocket, type RemoteInfo } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a resolver can be. `silent`: packets to it are lost, and whoever asked waits for its own time-out. */
export type Resolver =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'servfail' }
  | { readonly kind: 'silent' };

/** A name server on loopback: every name is 127.0.0.1 and has no IPv6 address. */
export interface NameServer {
  readonly address: string;
  readonly be: (resolver: Resolver) => void;
  /** Questions it was sent, answered or not. */
  readonly asked: () => number;
  readonly stop: () => Promise<void>;
}

const HEADER_BYTES = 12;
const TYPE_A = 1;
/** Response, recursion desired and available (RFC 1035, 4.1.1). */
const [FLAGS_OK, FLAGS_SERVFAIL] = [0x8180, 0x8182];
/** Nothing is kept by a resolver in between: there is none. */
const TTL_SECONDS = 0;
const LOOPBACK = [127, 0, 0, 1];

/** @throws when the address and port are not free, or not allowed: 53 is the only port that resolv.conf can mean. */
export async function startNameServer(address: string, port = 53): Promise<NameServer> {
  const socket = createSocket('udp4');
  let resolver: Resolver = { kind: 'healthy' };
  let [asked, isOpen] = [0, true];
  const answer = async (question: Buffer, from: RemoteInfo): Promise<void> => {
    asked += 1;
    const { kind } = resolver;
    if (kind === 'silent') return;
    if (resolver.kind === 'slow') await sleep(resolver.ms, undefined, { ref: false });
    const reply = replyTo(question, kind === 'servfail');
    if (isOpen && reply !== undefined) socket.send(reply, from.port, from.address);
  };
  socket.on('message', (question, from) => void answer(question, from));
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, address, () => {
      socket.removeListener('error', reject);
      resolve();
    });
  });
  // A client that has left is reported at its next packet; nobody here waits for it.
  socket.on('error', () => undefined);
  return {
    address,
    be: (next) => {
      resolver = next;
    },
    asked: () => asked,
    stop: () =>
      new Promise((resolve) => {
        if (!isOpen) return resolve();
        isOpen = false;
        socket.close(() => resolve());
      }),
  };
}

/** Of one question of class IN: its address, no address of its type, or SERVFAIL. Undefined: not a question. */
export function replyTo(question: Buffer, isFailing: boolean): Buffer | undefined {
  const end = endOfQuestion(question);
  if (end === undefined) return undefined;
  const hasAddress = !isFailing && question.readUInt16BE(end - 4) === TYPE_A;
  const header = Buffer.alloc(HEADER_BYTES);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(isFailing ? FLAGS_SERVFAIL : FLAGS_OK, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(hasAddress ? 1 : 0, 6);
  // The name is where the question has it: a pointer to byte 12.
  const address = [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, TTL_SECONDS, 0, LOOPBACK.length, ...LOOPBACK];
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end), Buffer.from(hasAddress ? address : [])]);
}

/** Behind name, type and class. */
function endOfQuestion(question: Buffer): number | undefined {
  if (question.length < HEADER_BYTES || question.readUInt16BE(4) !== 1) return undefined;
  let at = HEADER_BYTES;
  for (let length = question[at]; length !== 0; length = question[at]) {
    // Longer labels are pointers or something newer; a question has neither.
    if (length === undefined || length > 63) return undefined;
    at += length + 1;
  }
  return at + 5 <= question.length ? at + 5 : undefined;
}
