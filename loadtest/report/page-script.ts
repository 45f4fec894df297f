/** The script of report.html: shows the values at the pointer's moment. Without it, the page shows all the rest. */
export const SCRIPT = `
for (const svg of document.querySelectorAll('svg[data-points]')) {
  const points = JSON.parse(svg.dataset.points);
  const cursor = svg.querySelector('.cursor');
  const value = svg.parentElement.querySelector('.value');
  const show = (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    let nearest = points[0];
    for (const point of points) if (Math.abs(point[0] - x) < Math.abs(nearest[0] - x)) nearest = point;
    if (nearest === undefined) return;
    cursor.setAttribute('x1', nearest[0]);
    cursor.setAttribute('x2', nearest[0]);
    cursor.setAttribute('visibility', 'visible');
    value.textContent = nearest[1];
  };
  const hide = () => {
    cursor.setAttribute('visibility', 'hidden');
    value.textContent = '';
  };
  svg.addEventListener('pointerdown', show);
  svg.addEventListener('pointermove', show);
  svg.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && hide());
}
`;
