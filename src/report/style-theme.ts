import { AREAS, GROUND, type Ink, LINES, readableOn, TEXT } from './palette.ts';

/** The palette as custom properties: light, dark where the reader prefers it, and light again on paper. */
export function themeStyle(): string {
  const light = variables('light');
  return [
    `:root{color-scheme:light dark;${light}}`,
    `@media (prefers-color-scheme:dark){:root{${variables('dark')}}}`,
    `@media print{:root{color-scheme:light;${light}}}`,
    ...drawnStyle(),
  ].join('\n');
}

/** For what stands on its own ground wherever it is shown. */
export function lightStyle(): string {
  return [`:root{color-scheme:light;${variables('light')}}`, ...drawnStyle()].join('\n');
}

function drawnStyle(): readonly string[] {
  return [
    Object.keys(AREAS).map((name) => `.area.${name}{fill:var(--area-${name})}.name.on-${name}{fill:var(--on-${name})}`),
    Object.keys(LINES).map((name) => `.${name}{--own:var(--line-${name})}`),
  ].flat();
}

function variables(side: keyof Ink): string {
  const named = (prefix: string, inks: Readonly<Record<string, Ink>>): string =>
    Object.entries(inks)
      .map(([name, ink]) => `--${prefix}${name}:${ink[side]};`)
      .join('');
  const on = Object.entries(AREAS).map(([name, ink]) => `--on-${name}:${readableOn(ink[side])};`);
  return `${named('', TEXT)}${named('', GROUND)}${named('area-', AREAS)}${named('line-', LINES)}${on.join('')}`;
}
