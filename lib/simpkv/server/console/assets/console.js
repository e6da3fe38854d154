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
// An element [data-stale] of it, hidden at first, says that the content could not be loaded.
const refresh = document.querySelector('meta[name="refresh"]');
if (refresh) {
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      document.querySelector('main').replaceWith(page.querySelector('main'));
    } catch {
      for (const warning of document.querySelectorAll('[data-stale]')) warning.hidden = false;
    }
  }, Number(refresh.content) * 1000);
}
