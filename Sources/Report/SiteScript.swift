/// The only script. It searches for places in a list that is loaded on first use. It is plain
/// JavaScript, which runs unchanged from a server or from a file.
let siteScript = """
  'use strict';
  (() => {
    const home = document.currentScript.dataset.home;
    const plain = text => text.normalize('NFKD').replace(/[\\u0300-\\u036f]/g, '').toLowerCase();

    // Search for a place.
    const form = document.querySelector('form.search');
    const input = form.querySelector('input');
    const list = form.querySelector('ul');
    const most = 12;
    let places = null;
    let isLoading = false;
    form.hidden = false;

    const load = () => {
      if (places || isLoading) return;
      isLoading = true;
      const script = document.createElement('script');
      script.src = home + 'places.js';
      script.onload = () => {
        places = window.bowserPlaces.map(([name, about, path]) =>
          ({ name, about, path, words: plain(name + ' ' + about).split(/[^a-z0-9]+/) }));
        show();
      };
      script.onerror = () => { isLoading = false; tell('The list of places could not be loaded.'); };
      document.head.append(script);
    };
    const tell = text => {
      const item = document.createElement('li');
      item.textContent = text;
      list.replaceChildren(item);
    };
    const show = () => {
      const wanted = plain(input.value).split(/[^a-z0-9]+/).filter(word => word);
      if (!places || !wanted.length) { list.replaceChildren(); return; }
      const found = [];
      for (const place of places) {
        if (wanted.every(word => place.words.some(other => other.startsWith(word)))) found.push(place);
        if (found.length > most) break;
      }
      if (!found.length) { tell('No place has that name.'); return; }
      list.replaceChildren(...found.slice(0, most).map(place => {
        const item = document.createElement('li');
        const link = document.createElement('a');
        link.href = home + place.path;
        link.textContent = place.name;
        const about = document.createElement('span');
        about.className = 'unit';
        about.textContent = ' ' + place.about;
        item.append(link, about);
        return item;
      }));
      if (found.length > most) {
        const more = document.createElement('li');
        more.className = 'unit';
        more.textContent = 'More places match: type more of the name.';
        list.append(more);
      }
    };
    input.addEventListener('focus', load);
    input.addEventListener('input', () => { load(); show(); });
    form.addEventListener('submit', event => {
      event.preventDefault();
      const first = list.querySelector('a');
      if (first) location.href = first.href;
    });
    form.addEventListener('keydown', event => {
      if (event.key === 'Escape') { input.value = ''; list.replaceChildren(); input.focus(); return; }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const links = [input, ...list.querySelectorAll('a')];
      const next = step && links[links.indexOf(document.activeElement) + step];
      if (next) { event.preventDefault(); next.focus(); }
    });
  })();

  """
