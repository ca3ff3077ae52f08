/** The bundle has the library's own script at this place, see route.ts. */
export { default } from 'uplot';
