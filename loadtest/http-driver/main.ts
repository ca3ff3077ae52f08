/** `node loadtest/http-driver/main.ts <plan.json>`: runs the plan and prints its result as JSON. */
import { readFileSync } from 'node:fs';
import { driveHttp, type HttpPlan } from './plan.ts';

const plan: HttpPlan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
console.log(JSON.stringify(await driveHttp(plan)));
process.exit(0);
