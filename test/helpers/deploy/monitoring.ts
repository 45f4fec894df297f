const DURATION = /^\d+(s|m|h)$/;

/** Kinds of the Prometheus operator, for which Kubernetes has no schemas: the parts that our manifests use. */
const SHAPES: Readonly<Record<string, object>> = {
  ServiceMonitor: {
    selector: { matchLabels: { 'app.kubernetes.io/name': /^sluice$/ } },
    endpoints: [{ port: /^\w+$/, path: /^\/\w+$/, interval: DURATION, scrapeTimeout: DURATION }],
  },
  PrometheusRule: {
    groups: [
      {
        name: /./,
        rules: [
          {
            alert: /^[A-Z]\w+$/,
            expr: /./,
            'for?': DURATION,
            labels: { severity: /^(info|warning|critical)$/ },
            annotations: { summary: /./, 'description?': /./ },
          },
        ],
      },
    ],
  },
};

interface Manifest {
  readonly kind: string;
  readonly spec: unknown;
}

/** Returns missing, wrong and unknown fields of the manifest's spec; undefined if the kind is not the operator's. */
export function monitoringFaults({ kind, spec }: Manifest): string[] | undefined {
  const shape = SHAPES[kind];
  return shape === undefined ? undefined : faultsOf(spec, shape, kind);
}

function faultsOf(value: unknown, shape: object, path: string): string[] {
  if (shape instanceof RegExp) {
    return typeof value === 'string' && shape.test(value) ? [] : [`${path}: expected ${shape}, got ${value}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value) || value.length === 0) return [`${path}: expected a list`];
    return value.flatMap((item, index) => faultsOf(item, shape[0] as object, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null) return [`${path}: expected an object, got ${value}`];
  const wanted = Object.entries(shape).map(([name, inner]) => ({
    name: name.replace('?', ''),
    optional: name.endsWith('?'),
    inner: inner as object,
  }));
  const unknown = Object.keys(value).filter((name) => !wanted.some((known) => known.name === name));
  return [
    ...unknown.map((name) => `${path}.${name}: unknown`),
    ...wanted
      .filter(({ name, optional }) => name in value || !optional)
      .flatMap(({ name, inner }) => faultsOf((value as never)[name], inner, `${path}.${name}`)),
  ];
}
