/** `node reader.ts <plan as JSON>`: prints what came of it as JSON. A process of its own has a core of its own. */
import { type BurstPlan, readInBursts } from './read-in-bursts.ts';

const plan: BurstPlan = JSON.parse(process.argv[2] ?? '');
console.log(JSON.stringify(await readInBursts(plan)));
process.exit(0);
