/** For `page.evaluate`: texts whose colour and ground, through transparent parents, are nearer than 4.5 : 1. */
export const LOW_CONTRAST = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  // Each element is looked at once, however many have it for a parent.
  const grounds = new Map([[null, 'rgb(255, 255, 255)']]);
  const ground = (element) => {
    const known = grounds.get(element);
    if (known !== undefined) return known;
    const colour = getComputedStyle(element).backgroundColor;
    const found = (channels(colour)[3] ?? 1) > 0 ? colour : ground(element.parentElement);
    grounds.set(element, found);
    return found;
  };
  const low = [];
  for (const element of document.querySelectorAll('body *')) {
    const ownText = [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue.trim() !== '');
    if (!ownText && !element.matches('input, select')) continue;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(element.className + ' ' + element.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return low;
})()`;
