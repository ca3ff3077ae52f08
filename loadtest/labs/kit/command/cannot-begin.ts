import { inPath } from '../../../stack/go-program.ts';
import { checkOut } from '../keep-finding.ts';
import { checkPage } from '../publish.ts';
import type { LabArguments } from './arguments.ts';

/** In one line, what would else be found after minutes, with everything measured. @param page that `--publish` writes. */
export async function cannotBegin(
  page: string,
  { out, names, isPublished }: Pick<LabArguments, 'out' | 'names' | 'isPublished'>,
): Promise<string | undefined> {
  if ((await inPath('taskset')).length === 0) return 'there is no taskset: install what Debian calls util-linux';
  try {
    await checkOut(out);
  } catch (error) {
    return `--out ${out} cannot be written: ${messageOf(error)}`;
  }
  try {
    if (isPublished) checkPage(page, names);
  } catch (error) {
    return `--publish: ${messageOf(error)}`;
  }
  return undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
