import { linkTo } from '../lib/router.ts'
import { useProject } from '../lib/session.ts'
import { docSections } from './doc-list.ts'

/** From a page to the document about it. */
export function HelpLink({ doc }: { doc: string }) {
  const { link } = useProject()
  const title = docSections.find(({ name }) => name === doc)?.title ?? doc
  return (
    <a class="button" href={linkTo(link(`docs/${doc}`))} aria-label={`? Documentation: ${title}`} title={`Documentation: ${title}`}>
      ?
    </a>
  )
}
