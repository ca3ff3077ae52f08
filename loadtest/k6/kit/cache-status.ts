/** One cache's part in an answer. Values are text: `ttl` → `287`; a parameter without a value is ``. */
export interface CacheMember {
  readonly cache: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const TOKEN = /^[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*$/;
const PARAMETER =
  /^([a-z*][a-z0-9_.*-]*)(?:=("(?:[^"\\]|\\.)*"|\?[01]|-?\d+(?:\.\d+)?|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_`|~:/-]*))?$/;

/** The field of RFC 9211, without commas and semicolons inside strings; undefined when it is not one. */
export function parseCacheStatus(field: string | undefined): readonly CacheMember[] | undefined {
  if (field === undefined || field === '') return undefined;
  const members: CacheMember[] = [];
  for (const text of field.split(',')) {
    const [name = '', ...rest] = text.split(';').map((part) => part.trim());
    if (!TOKEN.test(name)) return undefined;
    const parameters: Record<string, string> = {};
    for (const one of rest) {
      const parsed = PARAMETER.exec(one);
      if (parsed?.[1] === undefined) return undefined;
      parameters[parsed[1]] = parsed[2] ?? '';
    }
    members.push({ cache: name, parameters });
  }
  return members;
}
