/** `node loadtest/labs/kit/driver/main.ts <plan.json>`: prints the result as JSON. It is a process so that it has a core of its own. */
import { readFileSync } from 'node:fs';
import { drive } from './drive.ts';
import type { DrivePlan } from './plan.ts';

const plan: DrivePlan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
console.log(JSON.stringify(await drive(plan)));
process.exit(0);
