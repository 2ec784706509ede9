export type Theme = 'system' | 'light' | 'dark'

const key = 'waymark-theme'
const isTheme = (value: unknown): value is Theme => value === 'system' || value === 'light' || value === 'dark'

export const storedTheme = (): Theme => {
  const value = localStorage.getItem(key)
  return isTheme(value) ? value : 'system'
}
export function applyTheme(theme: Theme): void {
  localStorage.setItem(key, theme)
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
