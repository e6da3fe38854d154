// Conveniences. Every page works without them.
'use strict';

// <form data-auto>: sends itself when a choice changes.
for (const form of document.querySelectorAll('form[data-auto]')) {
  form.addEventListener('change', () => form.requestSubmit());
}

// <input data-filter="#id">: hides the rows or items of a list that do not have the entered text.
for (const input of document.querySelectorAll('input[data-filter]')) {
  const items = document.querySelector(input.dataset.filter).querySelectorAll('tbody > tr, li');
  input.addEventListener('input', () => {
    const text = input.value.toLowerCase();
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(text);
  });
}

// <main> of a page with <meta name="refresh" content="SECONDS">: loads the content again, as long as it is visible.
// What is no such page leaves the content as it is. An element [data-stale] outside of <main>, hidden at first, says so
// until the content comes again.
const refresh = document.querySelector('meta[name="refresh"]');
if (refresh) {
  const period = Number(refresh.content) * 1000;
  const load = async () => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), period / 2);
    try {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' }, signal: limit.signal });
      if (response.status !== 200) return null;
      return new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main#main');
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
    }
  };
  let loading = false;
  setInterval(async () => {
    if (document.hidden || loading) return;
    loading = true;
    const content = await load();
    loading = false;
    if (content) document.querySelector('main').replaceWith(content);
    for (const warning of document.querySelectorAll('[data-stale]')) warning.hidden = content !== null;
  }, period);
}
