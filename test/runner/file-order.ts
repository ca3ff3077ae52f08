/**
 * Folders whose files take longest, mostly waiting for servers. Begun late, one of these files would run alone at the
 * end; begun folder after folder, files that strain the machine in the same way would run side by side.
 */
export const LONG_FOLDERS = ['test/e2e', 'test/stores/redis', 'test/loadtest/peers'];

/** The fault matrix sends searches at a rate and is invalid when it is late: it runs beside the short files, begun before them. */
export const LAST_FOLDERS = [
  'test/faults',
  'test/http',
  'test/config',
  'test/control',
  'test/operations/meter',
  'test/metrics',
  'test/resilience',
  'test/search',
  'test/operations/warm',
];

/** Files of the long folders first, one of each in turn; then all others as they come; those of the last folders last. */
export function orderFiles(files: readonly string[]): string[] {
  const folderOf = (file: string): string | undefined =>
    [...LONG_FOLDERS, ...LAST_FOLDERS].find((folder) => file.startsWith(`${folder}/`));
  const groups = Map.groupBy(files, folderOf);
  const long = LONG_FOLDERS.map((folder) => groups.get(folder) ?? []);
  const rounds = Math.max(...long.map(({ length }) => length));
  const dealt = Array.from({ length: rounds }, (_, round) => long.flatMap((group) => group.slice(round, round + 1)));
  const last = LAST_FOLDERS.flatMap((folder) => groups.get(folder) ?? []);
  return [...dealt.flat(), ...(groups.get(undefined) ?? []), ...last];
}
