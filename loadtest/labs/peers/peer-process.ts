import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts, startProcess } from '../../stack/process.ts';
import { systemPath } from '../kit/programs.ts';
import type { PeerScene, RunningPeer } from './peer.ts';
import { processTree } from './process-tree.ts';

export interface PeerProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Absent: the scene's folder. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Asked once its port answers; absent: that is enough. */
  readonly ready?: (url: string) => Promise<boolean>;
  readonly purge: (running: { readonly url: string; readonly pid: number }) => Promise<void>;
}

const masters = new Set<number>();
// Before the listener of process.ts, which ends the masters alone.
process.prependListener('exit', () => kill([...masters].flatMap(processTree)));

/**
 * One replica on the scene's processors, ready when its port answers. Its workers end with it, also where this process
 * ends before it: a master that is killed leaves them behind.
 */
export async function startPeerProcess(scene: PeerScene, options: PeerProcessOptions): Promise<RunningPeer> {
  const url = `http://127.0.0.1:${scene.port}`;
  const ready = async (): Promise<boolean> => (await accepts(scene.port)) && ((await options.ready?.(url)) ?? true);
  const started = await startProcess({
    name: options.name,
    command: 'taskset',
    args: ['-c', scene.cores, options.command, ...options.args],
    cwd: options.cwd ?? scene.folder,
    // Debian keeps nginx and varnishd where only root's PATH leads.
    env: { ...systemPath(), ...options.env },
    logFile: join(scene.folder, 'peer.log'),
    ready,
  });
  const { pid } = started;
  masters.add(pid);
  return {
    url,
    pids: () => processTree(pid),
    purge: () => options.purge({ url, pid }),
    stop: async () => {
      const workers = processTree(pid).slice(1);
      await started.stop();
      masters.delete(pid);
      await gone(workers);
    },
  };
}

const WORKER_GRACE_MS = 2000;

async function gone(pids: readonly number[]): Promise<void> {
  const untilMs = performance.now() + WORKER_GRACE_MS;
  const alive = (): readonly number[] => pids.flatMap((pid) => processTree(pid).slice(0, 1));
  while (alive().length > 0 && performance.now() < untilMs) await sleep(10);
  kill(alive());
}

function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}
