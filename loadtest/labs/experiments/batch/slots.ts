import type { Lab } from '../../kit/lab.ts';

/** What a node of a cluster says to keys of two slots in one command; undefined when it takes them. */
export async function refusalOfTwoSlots(lab: Lab): Promise<string | undefined> {
  const node = await lab.startStore({ config: ['cluster-enabled yes'] });
  await node.command('CLUSTER', 'ADDSLOTSRANGE', 0, 16383);
  try {
    await node.command('MGET', 'page:1', 'page:2');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
