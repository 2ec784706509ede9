import { ApiReference } from '../docs/api-reference.tsx'
import { docGroups, docSections } from '../docs/doc-list.ts'
import { Document } from '../docs/document.tsx'
import { searchIn } from '../docs/markdown.ts'
import { readDoc } from '../docs/read-docs.ts'
import type { PageProps } from '../lib/page.ts'
import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { useAddress } from '../lib/use-address.ts'
import { useLoaded } from '../lib/use-loaded.ts'
import { Search } from '../ui/list-table.tsx'
import { Empty, ErrorBox, PageHead, Working } from '../ui/parts.tsx'
import '../docs/docs.css'

/** The documents for users, as they are in the package, and the reference of the API. */
export function Docs({ place, rest: [name = 'quickstart'] }: PageProps) {
  const { link } = useProject()
  const { of, set } = useAddress(place)
  const search = of('search')
  const known = docSections.find((one) => one.name === name)
  return (
    <>
      <PageHead title={known?.title ?? 'Documentation'} />
      <div class="filters">
        <Search
          label={name === 'api' ? 'Search the API' : 'Search the documentation'}
          value={search}
          onChange={(text) => set({ search: text })}
        />
      </div>
      <div class="docs">
        <nav aria-label="Documents">
          {docGroups.map(({ title, docs }) => (
            <div key={title}>
              <h2>{title}</h2>
              <ul>
                {docs.map((one) => (
                  <li key={one.name}>
                    <a href={linkTo(link(`docs/${one.name}`))} aria-current={one.name === name ? 'page' : undefined}>
                      {one.title}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <div>
          {!known ? (
            <Empty title="There is no such document" />
          ) : name === 'api' ? (
            <ApiReference search={search} />
          ) : search !== '' ? (
            <Results search={search} />
          ) : (
            <Read name={name} anchor={of('at')} key={name} />
          )}
        </div>
      </div>
    </>
  )
}

function Read({ name, anchor }: { name: string; anchor: string }) {
  const { value, error, reload } = useLoaded(() => readDoc(name), [name])
  if (error) return <ErrorBox error={new Error('The document could not be loaded.')} retry={reload} />
  if (value === null) return <Working what="Reading the document" />
  return <Document name={name} markdown={value} anchor={anchor} />
}

const mostHits = 60

function Results({ search }: { search: string }) {
  const { link } = useProject()
  const { value, error, reload } = useLoaded(
    () => Promise.all(docSections.map(async (doc) => ({ doc, markdown: (await readDoc(doc.name)) ?? '' }))),
    [],
  )
  if (error) return <ErrorBox error={new Error('The documents could not be loaded.')} retry={reload} />
  if (!value) return <Working what="Reading the documents" />
  const hits = value.flatMap(({ doc, markdown }) => searchIn(markdown, search).map((hit) => ({ doc, hit })))
  return (
    <section aria-label="Results">
      {hits.length === 0 && <p class="note">Nothing found. Search for fewer words.</p>}
      <ul class="lines">
        {hits.slice(0, mostHits).map(({ doc, hit }) => (
          <li key={`${doc.name} ${hit.anchor}`}>
            <div>
              <a href={linkTo(link(`docs/${doc.name}`), { at: hit.anchor })}>
                {doc.title}: {hit.heading.replaceAll('`', '')}
              </a>
              <div class="note">{hit.excerpt}</div>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
