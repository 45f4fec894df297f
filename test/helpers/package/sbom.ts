import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly object[];
  readonly externalReferences?: readonly { readonly url: string }[];
  readonly pedigree?: { readonly patches: readonly { readonly diff: { readonly url: string } }[] };
}

interface Document {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** The output of scripts/release/sbom.mjs. */
export class Sbom {
  readonly document: Document;

  private constructor(document: Document) {
    this.document = document;
  }

  static async read(file: string): Promise<Sbom> {
    return new Sbom(JSON.parse(await readFile(file, 'utf8')) as Document);
  }

  /** `name@version` of each component, sorted. */
  get packages(): string[] {
    return this.document.components.map(({ name, version }) => `${name}@${version}`).toSorted();
  }

  get names(): Set<string> {
    return new Set(this.document.components.map(({ name }) => name));
  }

  get(name: string): Component {
    const [found, ...others] = this.document.components.filter((component) => component.name === name);
    assert.ok(found !== undefined && others.length === 0, `one ${name}`);
    return found;
  }

  /** Checks the parts that scanners rely on: fields that identify packages, valid URLs, and no loose references. */
  assertSound(): void {
    const { bomFormat, specVersion, metadata, components, dependencies } = this.document;
    assert.deepEqual([bomFormat, specVersion], ['CycloneDX', '1.5']);
    const refs = new Set([metadata.component, ...components].map((component) => component['bom-ref']));
    assert.equal(refs.size, components.length + 1, 'each once');
    for (const { name, version, purl, licenses = [], externalReferences = [] } of components) {
      assert.equal(purl, `pkg:npm/${name.replace('@', '%40')}@${version}`);
      assert.ok(licenses.length > 0, `licence of ${name}`);
      for (const { url } of externalReferences) assert.ok(URL.canParse(url), url);
    }
    assert.deepEqual(new Set(dependencies.map(({ ref }) => ref)), refs);
    for (const ref of dependencies.flatMap(({ dependsOn }) => dependsOn)) assert.ok(refs.has(ref), ref);
  }
}
