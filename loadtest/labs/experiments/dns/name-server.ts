import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { complaint, runProgram } from '../../kit/programs.ts';

/** States of a resolver. `silent`: packets to it are lost, and a client waits for its own time-out. */
export type Resolver =
  | { readonly kind: 'healthy' | 'servfail' | 'silent' }
  | { readonly kind: 'slow'; readonly ms: number };

export type NameServer = Awaited<ReturnType<typeof startNameServer>>;

const HEADER_BYTES = 12;
const TYPE_A = 1;
/** Response, recursion desired and available (RFC 1035, 4.1.1). */
const [FLAGS_OK, FLAGS_SERVFAIL] = [0x8180, 0x8182];
/** There is no resolver in between that could keep an answer. */
const TTL_SECONDS = 0;
const LOOPBACK = [127, 0, 0, 1];

/**
 * A name server on loopback: every name is 127.0.0.1 and has no IPv6 address.
 * @throws when the address and port are not free, or not allowed: resolv.conf can only name port 53.
 */
export async function startNameServer(address: string, port = 53) {
  const socket = createSocket('udp4');
  let resolver: Resolver = { kind: 'healthy' };
  let [asked, isOpen] = [0, true];
  const answer = async (question: Buffer, from: RemoteInfo): Promise<void> => {
    asked += 1;
    const { kind } = resolver;
    if (kind === 'silent') return;
    if (resolver.kind === 'slow') await sleep(resolver.ms, undefined, { ref: false });
    if (isOpen) socket.send(replyTo(question, kind === 'servfail'), from.port, from.address);
  };
  socket.on('message', (question, from) => void answer(question, from));
  socket.bind(port, address);
  await once(socket, 'listening');
  // The socket reports a client that has gone at the next packet to it; nothing here depends on that.
  socket.on('error', () => undefined);
  return {
    set: (next: Resolver): void => {
      resolver = next;
    },
    /** Questions received, answered or not. */
    asked: () => asked,
    stop: () =>
      new Promise<void>((resolve) => {
        isOpen = false;
        socket.close(resolve);
      }),
  };
}

/** Answers one question of class IN: its address, no address of its type, or SERVFAIL. */
function replyTo(question: Buffer, isFailing: boolean): Buffer {
  // Labels are text: the first zero ends the name, and type and class follow.
  const end = question.indexOf(0, HEADER_BYTES) + 5;
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

/** An unused loopback address: systemd-resolved has 127.0.0.53, others 127.0.0.1. */
export const NAME_SERVER = '127.83.0.53';
const [RESOLV, NSSWITCH] = ['/etc/resolv.conf', '/etc/nsswitch.conf'];
const TRY_LIMIT_MS = 5000;

/**
 * A command whose process alone asks our name server. glibc reads its resolver from /etc/resolv.conf, so the process gets
 * a mount namespace with its own file over that one, and an nsswitch.conf without /etc/hosts, mDNS and systemd-resolved.
 * Both end with the process.
 * @param folder gets the two files.
 */
export function inNamespace(folder: string, words: readonly string[]): readonly string[] {
  const [resolv, nsswitch] = [join(folder, 'resolv.conf'), join(folder, 'nsswitch.conf')];
  writeFileSync(resolv, `nameserver ${NAME_SERVER}\n`);
  writeFileSync(nsswitch, 'hosts: dns\n');
  const mounts = [`mount --bind "$1" ${RESOLV}`, ...(existsSync(NSSWITCH) ? [`mount --bind "$2" ${NSSWITCH}`] : [])];
  const script = `${mounts.join(' && ')} && shift 2 && exec "$@"`;
  return ['unshare', '-m', '--propagation', 'private', 'sh', '-c', script, 'sh', resolv, nsswitch, ...words];
}

/** Looks up a name in such a namespace. Undefined: the question reached our name server, and the answer came back. */
export async function cannotResolve(): Promise<string | undefined> {
  const needs = `needs Linux, root for a mount namespace with a resolv.conf of its own, and UDP port 53 of ${NAME_SERVER}`;
  await using used = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'serpcache-dns-'));
  used.defer(() => rm(folder, { recursive: true, force: true }));
  try {
    const server = await startNameServer(NAME_SERVER);
    used.defer(server.stop);
    const ask = `require('node:dns').lookup('ready.serpcache.test', (error, address) => console.log(error ?? address))`;
    const [command = '', ...args] = inNamespace(folder, [process.execPath, '-e', ask]);
    const { output } = await runProgram({ command, args, limitMs: TRY_LIMIT_MS });
    if (output.trim() === '127.0.0.1' && server.asked() > 0) return undefined;
    return `${needs}: the name resolved as ${output.trim()}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      return `another run of it has UDP port 53 of ${NAME_SERVER}: wait until that one is over`;
    return `${needs}: ${complaint(error)}`;
  }
}
