import { existsSync, readFileSync } from 'node:fs';

/** One end of a TCP connection as the kernel lists it. */
export interface KernelSocket {
  readonly localPort: number;
  readonly remotePort: number;
  /** As in /proc/net/tcp: `01` is established, `08` is closed by the other end alone. */
  readonly state: string;
  /** Sent by the program and not acknowledged by the other end. */
  readonly unsentBytes: number;
}

export const ESTABLISHED = '01';
export const CLOSE_WAIT = '08';

/** Server ends at these ports. A server that listens on both families has its connections in the second file. */
export function socketsAt(ports: ReadonlySet<number>): readonly KernelSocket[] {
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => (existsSync(file) ? socketsIn(file, ports) : []));
}

function socketsIn(file: string, ports: ReadonlySet<number>): readonly KernelSocket[] {
  const portOf = (address: string): number => Number.parseInt(address.slice(address.indexOf(':') + 1), 16);
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(1)
    .map((line): KernelSocket => {
      const [, local = '', remote = '', state = '', queues = ''] = line.trim().split(/\s+/);
      return {
        localPort: portOf(local),
        remotePort: portOf(remote),
        state,
        unsentBytes: Number.parseInt(queues, 16),
      };
    })
    .filter(({ localPort }) => ports.has(localPort));
}
