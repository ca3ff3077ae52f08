/**
 * Folders whose files take longest, mostly waiting for servers. Begun late, one of these files would run alone at the
 * end; begun folder after folder, files that strain the machine in the same way would run side by side.
 */
export const LONG_FOLDERS = ['test/e2e', 'test/stores/redis', 'test/faults', 'test/loadtest/peers'];

/** Files of the long folders first, one of each in turn; all others as they come. */
export function orderFiles(files: readonly string[]): string[] {
  const groups = Map.groupBy(files, (file) => LONG_FOLDERS.find((folder) => file.startsWith(`${folder}/`)));
  const long = LONG_FOLDERS.map((folder) => groups.get(folder) ?? []);
  const rounds = Math.max(...long.map(({ length }) => length));
  const dealt = Array.from({ length: rounds }, (_, round) => long.flatMap((group) => group.slice(round, round + 1)));
  return [...dealt.flat(), ...(groups.get(undefined) ?? [])];
}
