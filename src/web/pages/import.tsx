import { Import } from '../data/import.tsx'
import { HelpLink } from '../docs/help-link.tsx'
import { PageHead } from '../ui/parts.tsx'
import '../ui/records.css'

/** Events of the past, from files. */
export function ImportPage() {
  return (
    <>
      <PageHead title="Import">
        <HelpLink doc="import" />
      </PageHead>
      <Import />
    </>
  )
}
