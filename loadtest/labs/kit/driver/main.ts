/** `node loadtest/labs/kit/driver/main.ts <plan.json>` prints the result as JSON. A separate process can use a separate core. */
import { readFileSync } from 'node:fs';
import { drive } from './drive.ts';

console.log(JSON.stringify(await drive(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')))));
process.exit(0);
