import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { inPath } from '../../stack/go-program.ts';
import type { Lab, LabStore, LabStoreOptions } from './lab.ts';
import { complaint, systemPath, systemProgram } from './programs.ts';

/** A link to a store: a network namespace, and a pair of virtual interfaces between it and ours. */
export interface LabNamespace {
  readonly name: string;
  readonly insideAddress: string;
  readonly outsideAddress: string;
  /** A store inside, reachable from outside at insideAddress. It speaks no TLS. */
  readonly startStore: (options?: LabStoreOptions) => Promise<LabStore>;
  /**
   * `tc qdisc … dev` on the way to us (replies) or to the store (requests): `['netem', 'delay', '1ms']`; replaces what was
   * there, undefined leaves the bare wire. Its handle is `1:`. @param classes of disciplines that have them, as
   * `tc class add dev …` takes what follows: `['parent', '1:', 'classid', '1:10', 'htb', …]`.
   */
  readonly shape: (
    way: Way,
    discipline: readonly string[] | undefined,
    classes?: readonly (readonly string[])[],
  ) => Promise<void>;
  /** `tc -s qdisc show` of that way, and `tc -s class show` after it. */
  readonly tcStatistics: (way: Way) => Promise<string>;
}

export type Way = 'replies' | 'requests';

const HOME = '/run/netns';

/** The first namespace of a machine mounts its home, and the mount stays: the process that made it removes it with the last one. */
async function leaveHome(wasThere: boolean): Promise<void> {
  if (wasThere || !existsSync(HOME) || readdirSync(HOME).length > 0) return;
  await systemProgram('umount', [HOME]).catch(() => undefined);
  await rmdir(HOME).catch(() => undefined);
}

/** Not `ip -n` or `ip netns exec`: they mount a /sys of the namespace's own, which a chroot and many containers forbid. */
function within(name: string, command: string, args: readonly string[]): Promise<string> {
  return systemProgram('nsenter', [entry(name), command, ...args]);
}

function entry(name: string): string {
  return `--net=${HOME}/${name}`;
}

/** A namespace of this experiment's own; it, the wire and what runs inside are gone when the experiment is over. */
export async function startNamespace(lab: Lab): Promise<LabNamespace> {
  lab.signal.throwIfAborted();
  const word = randomBytes(2).toString('hex');
  const name = `spc-${process.pid}-${word}`;
  const [outside, inside] = [`spo${process.pid}${word}`, `spi${process.pid}${word}`];
  const { outsideAddress, insideAddress } = await freeAddresses();
  const wasThere = existsSync(HOME);
  const [nsenter = 'nsenter'] = await inPath('nsenter', ['/usr/bin', '/bin']);
  // A process that exits before the end of its lab must not leave a namespace behind.
  const atExit = (): void => {
    spawnSync('ip', ['netns', 'del', name], { env: { ...process.env, ...systemPath() } });
  };
  process.once('exit', atExit);
  lab.atEnd(async () => {
    // The kernel removes the link with its inner end, later: we do not wait for that.
    await systemProgram('ip', ['link', 'del', outside]).catch(() => undefined);
    await systemProgram('ip', ['netns', 'del', name]);
    await leaveHome(wasThere);
    process.removeListener('exit', atExit);
  });
  await systemProgram('ip', ['netns', 'add', name]);
  await systemProgram('ip', ['link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', name]);
  await systemProgram('ip', ['addr', 'add', `${outsideAddress}/30`, 'dev', outside]);
  await systemProgram('ip', ['link', 'set', outside, 'up']);
  await within(name, 'ip', ['addr', 'add', `${insideAddress}/30`, 'dev', inside]);
  await within(name, 'ip', ['link', 'set', 'lo', 'up']);
  await within(name, 'ip', ['link', 'set', inside, 'up']);

  const shaped = new Set<Way>();
  const tc = (way: Way, words: readonly string[]): Promise<string> =>
    way === 'replies' ? within(name, 'tc', words) : systemProgram('tc', words);
  const device = (way: Way): string[] => ['dev', way === 'replies' ? inside : outside];
  return {
    name,
    insideAddress,
    outsideAddress,
    startStore: (options = {}) => {
      // The certificates of the lab are for loopback.
      if (options.tls) throw new Error('a store inside a namespace speaks no TLS: leave out `tls`');
      return lab.startStore({ ...options, place: { host: insideAddress, through: [nsenter, entry(name)] } });
    },
    shape: async (way, discipline, classes = []) => {
      if (shaped.delete(way)) await tc(way, ['qdisc', 'del', ...device(way), 'root']);
      if (discipline === undefined) return;
      await tc(way, ['qdisc', 'add', ...device(way), 'root', 'handle', '1:', ...discipline]);
      shaped.add(way);
      for (const one of classes) await tc(way, ['class', 'add', ...device(way), ...one]);
    },
    tcStatistics: async (way) => {
      const shown = await tc(way, ['-s', 'qdisc', 'show', ...device(way)]);
      return `${shown}${await tc(way, ['-s', 'class', 'show', ...device(way)])}`;
    },
  };
}

/**
 * Why there can be no namespaces here; undefined when there can. It makes one and removes it: being root in a container
 * says little. @param disciplines that have to be in the kernel, with what they need: `['netem', 'delay', '1ms']`.
 */
export async function namespacesProblem(disciplines: readonly (readonly string[])[] = []): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'needs Linux for network namespaces';
  const name = `spc-${process.pid}-${randomBytes(2).toString('hex')}`;
  const wasThere = existsSync(HOME);
  try {
    await systemProgram('tc', ['-V']);
    await systemProgram('ip', ['netns', 'add', name]);
  } catch (error) {
    if (isMissing(error)) return 'needs ip and tc (package iproute2)';
    return `needs root for network namespaces (${complaint(error)})`;
  }
  try {
    await within(name, 'ip', ['link', 'add', 'spc0', 'type', 'veth', 'peer', 'name', 'spc1']).catch((error) => {
      throw new Error(`needs virtual interfaces, veth, in the kernel (${complaint(error)})`);
    });
    for (const discipline of disciplines) {
      await within(name, 'tc', ['qdisc', 'replace', 'dev', 'spc0', 'root', ...discipline]).catch((error) => {
        throw new Error(`needs the discipline ${discipline[0]} of tc in the kernel (${complaint(error)})`);
      });
      await within(name, 'tc', ['qdisc', 'del', 'dev', 'spc0', 'root']);
    }
    return undefined;
  } catch (error) {
    return complaint(error);
  } finally {
    await systemProgram('ip', ['netns', 'del', name]).catch(() => undefined);
    await leaveHome(wasThere);
  }
}

/** Addresses of 198.18.0.0/15, reserved for benchmarks of networks (RFC 2544): no real address is hidden. */
async function freeAddresses(): Promise<{ readonly outsideAddress: string; readonly insideAddress: string }> {
  const taken = await systemProgram('ip', ['-o', '-4', 'addr', 'show']);
  for (let tries = 0; tries < 200; tries += 1) {
    const [second = 0, third = 0, fourth = 0] = randomBytes(3);
    const [net, first] = [`198.${18 + (second % 2)}.${third}`, fourth & ~3];
    const outsideAddress = `${net}.${first + 1}`;
    if (!taken.includes(` ${outsideAddress}/`)) return { outsideAddress, insideAddress: `${net}.${first + 2}` };
  }
  throw new Error('no free addresses in 198.18.0.0/15');
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
