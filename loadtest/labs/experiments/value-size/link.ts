import type { Lab } from '../../kit/lab.ts';
import { namespacesProblem, startNamespace } from '../../kit/namespace.ts';
import { rowName, SIZES } from './sizes.ts';
import { readValues, storeValues, type Transfer, writeValues } from './transfer.ts';

/** Bytes a second of the link: one gigabit. */
export const LINK_BYTES_PER_SECOND = 125_000_000;

/** Room for what ten connections may have under way: a shorter queue drops, and what TCP does then is another lesson. */
const LINK = ['tbf', 'rate', '1gbit', 'burst', '256kb', 'latency', '500ms'];
/** From here on a link is what limits, and how many requests fill the time is known beforehand. */
const LINK_LIMITS_FROM = 64 * 1024;

/** The same over a link of known bandwidth, so that it can be full while processors idle. */
export async function overLink(lab: Lab): Promise<readonly Transfer[] | string> {
  const problem = await namespacesProblem([LINK]);
  if (problem !== undefined) return problem;
  const wire = await startNamespace(lab);
  const store = await wire.startStore();
  const shape = async (discipline: readonly string[] | undefined): Promise<void> => {
    await wire.shape('requests', discipline);
    await wire.shape('replies', discipline);
  };
  const rows: Transfer[] = [];
  for (const bytes of SIZES) {
    await shape(undefined);
    await storeValues(lab, store, bytes);
    await shape(LINK);
    const load = { store, bytes, pipeline: 1, seconds: lab.seconds(0.8) };
    lab.say(`over a link of 1 Gbit/s: ${rowName('SET', bytes, 1)} and GET`);
    rows.push(await readValues(lab, load));
    const isLimit = bytes >= LINK_LIMITS_FROM;
    rows.push(await writeValues(lab, { ...load, ...(isLimit && { mostPerSecond: LINK_BYTES_PER_SECOND / bytes }) }));
  }
  return rows.toSorted((one, other) => other.way.localeCompare(one.way));
}
