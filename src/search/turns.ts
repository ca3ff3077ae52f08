/** Runs tasks in order, at most `maxAtOnce` at a time; each ends for itself, and one that fails stops no other. */
export async function inTurns<T>(
  tasks: readonly (() => Promise<T>)[],
  maxAtOnce: number,
): Promise<readonly PromiseSettledResult<T>[]> {
  const results: PromiseSettledResult<T>[] = [];
  const queue = tasks.entries();
  const worker = async (): Promise<void> => {
    for (const [i, task] of queue) {
      try {
        results[i] = { status: 'fulfilled', value: await task() };
      } catch (reason) {
        results[i] = { status: 'rejected', reason };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, tasks.length) }, worker));
  return results;
}
