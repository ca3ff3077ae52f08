/** The errors for which a page is not well-formed XML, by name. Pages have no CDATA and no comments. */
export function markupFaults(page: string): readonly string[] {
  const faults: string[] = [];
  const open: string[] = [];
  const body = page.replace(/^<!DOCTYPE html>\n/, '');
  let at = 0;
  for (const found of body.matchAll(/<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-z][a-zA-Z0-9:-]*="[^"<]*")*)\s*(\/?)>/g)) {
    const between = body.slice(at, found.index);
    at = found.index + found[0].length;
    if (between.includes('<') || (open.at(-1) !== 'style' && between.includes('>')))
      faults.push(`stray < or >: ${between.slice(0, 60)}`);
    if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(between + (found[3] ?? '')))
      faults.push(`a bare &: ${between.slice(0, 60)}`);
    const [, end, tag = '', attributes = '', closed] = found;
    const names = [...attributes.matchAll(/\s([a-z][a-zA-Z0-9:-]*)=/g)].map((match) => match[1]);
    if (new Set(names).size < names.length) faults.push(`an attribute twice: ${found[0]}`);
    if (end === '/') {
      const expected = open.pop();
      if (expected !== tag) faults.push(`</${tag}> where </${expected}> was expected`);
    } else if (closed !== '/') open.push(tag);
  }
  if (body.slice(at).trim() !== '') faults.push(`text after the end: ${body.slice(at, at + 60)}`);
  const ids = [...body.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1] ?? '');
  for (const id of ids.filter((one, i) => ids.indexOf(one) !== i)) faults.push(`the id ${id} twice`);
  for (const [, name = ''] of body.matchAll(/\shref="#([^"]*)"/g)) if (!ids.includes(name)) faults.push(`no #${name}`);
  for (const [, names = ''] of body.matchAll(/\saria-labelledby="([^"]*)"/g)) {
    for (const name of names.split(' ')) if (!ids.includes(name)) faults.push(`no #${name}`);
  }
  return [...faults, ...open.map((tag) => `<${tag}> is never closed`)];
}
