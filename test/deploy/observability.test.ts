import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { needs } from '../helpers/services.ts';
import { metricsOfBusyGateway } from '../helpers/deploy/busy-gateway.ts';
import { Exposition } from '../helpers/deploy/exposition.ts';
import { checkQuery } from '../helpers/deploy/promql.ts';

const DEPLOY = path.join(import.meta.dirname, '../../../deploy');
const SAMPLE = new Exposition('up 1\na_total{topic="x"} 1\nb{topic="x"} 1\nh_bucket{le="1"} 1\n');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly type: string; readonly definition?: string }[] };
}

interface AdapterRule {
  readonly seriesQuery: string;
  readonly name: { readonly as: string };
  readonly metricsQuery: string;
}

const read = (file: string): Promise<string> => readFile(path.join(DEPLOY, file), 'utf8');

const readYaml = async <T>(file: string): Promise<T> => parse(await read(file)) as T;

/** Variables of Grafana's own in a query; those of the dashboard stand in strings. */
const inGrafana = (query: string): string => query.replaceAll('$__rate_interval', '5m');

describe('queries', needs('kafka', 'redis'), () => {
  let exposition: Exposition;

  it('are checked against a gateway that has a series for each metric', async (t) => {
    exposition = new Exposition(await metricsOfBusyGateway(t));
  });

  it('of the dashboard name existing series and labels, and so do their legends', async () => {
    const { panels, templating } = JSON.parse(await read('grafana/dashboard.json')) as Dashboard;
    let queries = 0;
    for (const { title, targets = [] } of panels) {
      for (const { expr, legendFormat } of targets) {
        const found = told(title, () => checkQuery(inGrafana(expr), exposition));
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
          assert.ok(found.has(label), `${title}: the legend's ${label} is none of ${[...found]}`);
        }
        queries += 1;
      }
    }
    for (const { type, definition = '' } of templating.list) {
      if (type !== 'query') continue;
      const [, query = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? [];
      assert.ok(told(definition, () => checkQuery(query, exposition)).has(label), definition);
    }
    assert.ok(queries >= 20, `${queries} queries`);
  });

  it('of the alerts name existing series and labels, and so do their texts', async () => {
    const { spec } = await readYaml<{ spec: { groups: { rules: Rule[] }[] } }>('prometheus/alerts.yaml');
    const rules = spec.groups.flatMap((group) => group.rules);
    assert.ok(rules.length >= 10, `${rules.length} rules`);
    for (const { alert, expr, annotations } of rules) {
      const found = told(alert, () => checkQuery(expr, exposition));
      for (const [, label = ''] of Object.values(annotations)
        .join()
        .matchAll(/\$labels\.(\w+)/g)) {
        assert.ok(found.has(label), `${alert}: ${label} is none of ${[...found]}`);
      }
    }
  });

  it('of the metrics adapter name existing series and labels', async () => {
    const { rules } = await readYaml<{ rules: AdapterRule[] }>('prometheus/adapter-rules.yaml');
    for (const { seriesQuery, metricsQuery, name } of rules) {
      const [, series = ''] = /^(\w+)\{/.exec(seriesQuery) ?? [];
      // As the adapter fills it in.
      const query = metricsQuery
        .replaceAll('<<.Series>>', series)
        .replaceAll('<<.LabelMatchers>>', 'namespace="n",pod=~"a|b"')
        .replaceAll('<<.GroupBy>>', 'pod');
      told(name.as, () => checkQuery(seriesQuery, exposition));
      assert.deepEqual(
        [...told(name.as, () => checkQuery(query, exposition))],
        ['pod'],
        'one figure for each pod',
      );
    }
  });
});

const labels = (query: string): string[] => [...checkQuery(query, SAMPLE)].toSorted();

describe('the check of queries', () => {
  for (const [query, fault] of Object.entries({
    no_such_total: /there is no series no_such_total/,
    'rate(a_total[5m]': /no PromQL/,
    'ratee(a_total[5m])': /no PromQL/,
    'a_total{color="x"}': /a_total has no label color/,
    'a_total{topic="y"}': /a_total never has topic="y": x/,
    'sum by (color) (a_total)': /has no label color/,
    'sum by (topic) (sum(a_total))': /has no label topic/,
    'histogram_quantile(0.9, sum by (pod) (rate(h_bucket[5m])))': /has no label le/,
    'sum by (topic) (a_total) / sum by (pod) (b)': /never match/,
  })) {
    it(`refuses ${query}`, () => assert.throws(() => checkQuery(query, SAMPLE), fault));
  }

  it('returns the labels of the result', () => {
    assert.deepEqual(labels('sum by (topic, pod) (rate(a_total{topic=~".*"}[5m]))'), ['pod', 'topic']);
    assert.deepEqual(labels('histogram_quantile(0.9, sum by (le, pod) (rate(h_bucket[5m])))'), ['pod']);
    assert.deepEqual(labels('2 * (sum by (pod) (b) > 5) and sum by (pod) (a_total offset 5m)'), ['pod']);
    assert.deepEqual(labels('absent(up{job="x"} == 1)'), []);
    assert.ok(labels('topk(3, b)').includes('topic'));
  });
});

/** Wrong queries, each with the fault that the check must name. */
function told<T>(name: string, check: () => T): T {
  try {
    return check();
  } catch (cause) {
    throw new Error(`${name}: ${(cause as Error).message}`, { cause });
  }
}
