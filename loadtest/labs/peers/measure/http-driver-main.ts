/** `node loadtest/labs/peers/measure/http-driver-main.ts <plan.json>`: prints what came of it as JSON. */
import { readFileSync } from 'node:fs';
import { driveHttp } from './http-driver.ts';
import type { HttpPlan } from './http-plan.ts';

const plan: HttpPlan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
console.log(JSON.stringify(await driveHttp(plan)));
process.exit(0);
