import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Report } from '../../src/operations/doctor/doctor.ts';
import { systemPath } from '../labs/kit/programs.ts';
import type { DoctorHarness } from './doctor-harness.ts';
import { reading } from './doctor-provoke.ts';

const run = promisify(execFile);
const CLI = join(import.meta.dirname, '../../src/cli.ts');
const LIMIT_MS = 60_000;
const VALUE_BYTES = 50_000;

/**
 * A limiter on the way of the replies, on the host of the store. The doctor of the service cannot see it and says that this
 * host was not looked at; `doctor --host` there makes the part that `--merge` joins.
 */
export async function farLimiter({ patients, directory, env, examine }: DoctorHarness) {
  const { wire, cars } = patients;
  const startedMs = performance.now();
  await wire.shape('replies', ['tbf', 'rate', '50mbit', 'burst', '2kb', 'latency', '40ms']);
  await cars.command('SET', 'other:far', 'x'.repeat(VALUE_BYTES));
  const ends = Array.from({ length: 4 }, () => reading(cars, 'other:far', VALUE_BYTES, 100));
  try {
    const alone = await examine();
    const [program = 'nsenter', ...words] = wire.through;
    const limits = { timeout: LIMIT_MS, maxBuffer: 2 ** 24, env: { ...process.env, ...systemPath(), ...env } };
    const part = await run(program, [...words, process.execPath, CLI, 'doctor', '--host'], limits);
    const file = join(directory, 'part.json');
    writeFileSync(file, part.stdout);
    const merged = await run(process.execPath, [CLI, 'doctor', '--merge', file, '--json'], limits)
      // Exit status 1: it has findings.
      .catch((error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }));
    return { alone, merged: JSON.parse(merged.stdout) as Report, seconds: (performance.now() - startedMs) / 1000 };
  } finally {
    for (const end of ends) await end();
    await wire.shape('replies', undefined);
    await cars.command('DEL', 'other:far');
  }
}
