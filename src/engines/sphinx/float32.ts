/**
 * The number somebody meant when searchd prints a float32 attribute as `81.529999`: the shortest decimal that is the
 * same float32. Values of up to 6 significant digits always come back exactly, most of 7 do.
 */
export function withoutFloat32Noise(printed: number): number {
  const stored = Math.fround(printed);
  if (!Number.isFinite(stored)) return printed;
  for (let digits = 1; digits <= 9; digits += 1) {
    const candidate = Number(stored.toPrecision(digits));
    if (Math.fround(candidate) === stored) return candidate;
  }
  return stored;
}
