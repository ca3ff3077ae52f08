import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { inPath } from '../../stack/go-program.ts';
import type { Lab, LabStoreOptions } from './lab.ts';
import { complaint, systemPath, systemProgram } from './programs.ts';

/** A network namespace for stores, and a pair of virtual interfaces between it and the namespace of this process. */
export type LabNamespace = Awaited<ReturnType<typeof startNamespace>>;

/** Replies go to us, requests go to the store. */
type Way = 'replies' | 'requests';

const HOME = '/run/netns';

/**
 * The first namespace of a machine creates a mount at HOME, which nothing removes. An empty one has no use, and `ip` makes it
 * again, so whoever removes the last namespace removes it too: several processes may have come and gone meanwhile.
 */
export async function leaveHome(): Promise<void> {
  if (!existsSync(HOME) || readdirSync(HOME).length > 0) return;
  await systemProgram('umount', [HOME]).catch(() => undefined);
  await rmdir(HOME).catch(() => undefined);
}

/** `ip -n` and `ip netns exec` mount a separate /sys, which a chroot and many containers forbid. */
function within(name: string, command: string, args: readonly string[]): Promise<string> {
  return systemProgram('nsenter', [`--net=${HOME}/${name}`, command, ...args]);
}

/** Creates a namespace. It, its interfaces and everything that runs inside are removed when the experiment is over. */
export async function startNamespace(lab: Pick<Lab, 'signal' | 'atEnd' | 'startStore'>) {
  lab.signal.throwIfAborted();
  const word = randomBytes(2).toString('hex');
  const name = `spc-${process.pid}-${word}`;
  const [outside, inside] = [`spo${process.pid}${word}`, `spi${process.pid}${word}`];
  const { outsideAddress, insideAddress } = await freeAddresses();
  const [nsenter = 'nsenter'] = await inPath('nsenter', ['/usr/bin', '/bin']);
  // If the process exits before the lab ends, the namespace is removed here.
  const atExit = (): void => {
    spawnSync('ip', ['netns', 'del', name], { env: { ...process.env, ...systemPath() } });
  };
  process.once('exit', atExit);
  lab.atEnd(async () => {
    // The kernel would remove the pair with the namespace, but at some later time.
    await systemProgram('ip', ['link', 'del', outside]).catch(() => undefined);
    await systemProgram('ip', ['netns', 'del', name]);
    await leaveHome();
    process.removeListener('exit', atExit);
  });
  const ip = (words: string): Promise<string> => systemProgram('ip', words.split(' '));
  const ipInside = (words: string): Promise<string> => within(name, 'ip', words.split(' '));
  await ip(`netns add ${name}`);
  await ip(`link add ${outside} type veth peer name ${inside} netns ${name}`);
  await ip(`addr add ${outsideAddress}/30 dev ${outside}`);
  await ip(`link set ${outside} up`);
  await ipInside(`addr add ${insideAddress}/30 dev ${inside}`);
  await ipInside('link set lo up');
  await ipInside(`link set ${inside} up`);

  const through = [nsenter, `--net=${HOME}/${name}`];
  const shaped = new Set<Way>();
  const tc = (way: Way, words: readonly string[]): Promise<string> =>
    way === 'replies' ? within(name, 'tc', words) : systemProgram('tc', words);
  const device = (way: Way): string[] => ['dev', way === 'replies' ? inside : outside];
  return {
    name,
    insideAddress,
    /** Program and arguments that start another program inside. */
    through,
    /** The interface outside: the discipline of the requests is on it. */
    outside,
    /** Starts a store inside. It is reachable from outside at `insideAddress`. The lab's certificates are for loopback. */
    startStore: (options: Omit<LabStoreOptions, 'tls'> = {}) =>
      lab.startStore({ ...options, place: { host: insideAddress, through } }),
    /**
     * Sets the discipline for one direction, as the arguments of `tc qdisc add dev …`: `['netem', 'delay', '1ms']`. It
     * replaces the one before; undefined removes it. Its handle is `1:`.
     * @param classes of the discipline, as the arguments of `tc class add dev …`: `['parent', '1:', 'classid', '1:10', 'htb', …]`.
     */
    shape: async (
      way: Way,
      discipline: readonly string[] | undefined,
      classes: readonly (readonly string[])[] = [],
    ) => {
      if (shaped.delete(way)) await tc(way, ['qdisc', 'del', ...device(way), 'root']);
      if (discipline === undefined) return;
      await tc(way, ['qdisc', 'add', ...device(way), 'root', 'handle', '1:', ...discipline]);
      shaped.add(way);
      for (const one of classes) await tc(way, ['class', 'add', ...device(way), ...one]);
    },
    /** The output of `tc -s qdisc show` and of `tc -s class show` for one direction. */
    tcStatistics: async (way: Way) => {
      const shown = await tc(way, ['-s', 'qdisc', 'show', ...device(way)]);
      return `${shown}${await tc(way, ['-s', 'class', 'show', ...device(way)])}`;
    },
  };
}

const NEEDS =
  'needs Linux, root for network namespaces with virtual interfaces (veth), and ip and tc (package iproute2)';

/**
 * Why namespaces cannot be used here; undefined when they can. It creates one and removes it, because root in a container
 * may not be allowed to. @param disciplines that the kernel must have, with their arguments: `['netem', 'delay', '1ms']`.
 */
export async function namespacesProblem(disciplines: readonly (readonly string[])[] = []): Promise<string | undefined> {
  const name = `spc-${process.pid}-${randomBytes(2).toString('hex')}`;
  try {
    await systemProgram('tc', ['-V']);
    await systemProgram('ip', ['netns', 'add', name]);
    await within(name, 'ip', ['link', 'add', 'spc0', 'type', 'veth', 'peer', 'name', 'spc1']);
    for (const discipline of disciplines) {
      await within(name, 'tc', ['qdisc', 'replace', 'dev', 'spc0', 'root', ...discipline]);
      await within(name, 'tc', ['qdisc', 'del', 'dev', 'spc0', 'root']);
    }
    return undefined;
  } catch (error) {
    return `${NEEDS}: ${complaint(error)}`;
  } finally {
    await systemProgram('ip', ['netns', 'del', name]).catch(() => undefined);
    await leaveHome();
  }
}

/** From 198.18.0.0/15, which is reserved for benchmarks of networks (RFC 2544), so no real addresses are hidden. */
async function freeAddresses(): Promise<{ readonly outsideAddress: string; readonly insideAddress: string }> {
  const taken = await systemProgram('ip', ['-o', '-4', 'addr', 'show']);
  for (;;) {
    const [second = 0, third = 0, fourth = 0] = randomBytes(3);
    const [net, first] = [`198.${18 + (second % 2)}.${third}`, fourth & ~3];
    const outsideAddress = `${net}.${first + 1}`;
    if (!taken.includes(` ${outsideAddress}/`)) return { outsideAddress, insideAddress: `${net}.${first + 2}` };
  }
}
