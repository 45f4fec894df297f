/* Runs in the browser: elements. Text is inserted only as text, since much of it comes from clients. */

/** @param properties of the element; `children` are elements or texts, undefined ones are left out */
export function element(tag, { children = [], attributes = {}, ...properties } = {}) {
  const made = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** Leaves the element alone if nothing has changed, so that a selection in it stays. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** A list of terms and what they are; pairs without a value are left out. */
export function definitions(pairs, className = 'definitions') {
  const entries = pairs
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([term, value]) =>
      element('div', {
        children: [element('dt', { textContent: term }), element('dd', { children: [value] })],
      }),
    );
  return element('dl', { className, children: entries });
}
