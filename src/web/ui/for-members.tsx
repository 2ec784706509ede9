import type { ComponentChildren } from 'preact'
import { useProject } from '../lib/session.ts'
import { Empty } from './parts.tsx'

// Viewers see and ask: they are offered no changes.

/** Buttons that change something. */
export const ForMembers = ({ children }: { children: ComponentChildren }) => <>{useProject().mayChange && children}</>

/** A form that is a page of its own: viewers reach it by its address only. */
export const MembersPage = ({ children }: { children: ComponentChildren }) =>
  useProject().mayChange ? (
    children
  ) : (
    <Empty title="Only members can do this">
      <p>You are a viewer here. Administrators choose the level under Settings → Members.</p>
    </Empty>
  )
