import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The processes that hold the listening socket of a port on loopback. */
export function listenerOf(port: number): number[] {
  const LISTENS = '0A';
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === LISTENS)
    .map((fields) => `socket:[${fields[9]}]`);
  return pids().filter((pid) => links(`/proc/${pid}/fd`).some((link) => inodes.includes(link)));
}

/** The processes of `known` that still run, and every other process whose working folder is there. */
export function processesIn(folder: string, known: readonly number[]): number[] {
  return pids().filter((pid) => known.includes(pid) || `${link(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`));
}

function pids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function links(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => link(join(directory, name)));
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
