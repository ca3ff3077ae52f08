import { accessSync, constants, existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

/**
 * Writes all of these files or none: each beside its place first, then all of them are moved there. @param files texts by
 * path. @throws when one of them cannot be written; all are as they were then.
 */
export function replaceFiles(files: ReadonlyMap<string, string>): void {
  const moves = Array.from(files, ([path, text]) => {
    // What a link shows is written, not the link.
    const to = existsSync(path) ? realpathSync(path) : path;
    return { to, beside: `${to}.new`, text };
  });
  // A file that may be read only could still be replaced by another one: whoever made it so does not want that.
  for (const { to } of moves) {
    if (!existsSync(to)) continue;
    // A device would be replaced by a file of its name.
    if (!isFile(to)) throw new Error(`${to} is no file`);
    accessSync(to, constants.W_OK);
  }
  const written: string[] = [];
  try {
    for (const { to, beside, text } of moves) {
      written.push(beside);
      writeFileSync(beside, text, existsSync(to) ? { mode: statSync(to).mode } : {});
    }
  } catch (error) {
    for (const beside of written) if (isFile(beside)) rmSync(beside);
    throw error;
  }
  for (const { to, beside } of moves) renameSync(beside, to);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
