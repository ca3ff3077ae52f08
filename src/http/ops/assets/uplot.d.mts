/** The library's own module is served at this place, so that no build and no import map is needed. */
export { default } from 'uplot';
