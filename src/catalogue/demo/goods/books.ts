import { kind } from './kind.ts';

export const BOOKS = [
  kind({
    category: 'книги',
    weight: 44,
    gender: 'p',
    wear: 'plain',
    noun: 'книги',
    english: 'books',
    models: `
      -: «Гарри Поттер», 7 томов 4500 x2; «Властелин колец» 1800; собрание сочинений Чехова 2500; собрание сочинений Пушкина 2200; «Мастер и Маргарита» 500; детские сказки 700 x2; фантастика, Стругацкие 1500; детективы Агаты Кристи 1200; учебники, 7 класс 900; учебники английского языка 1300 x2; по психологии 900; кулинарные 600; по программированию на Python 1700; комиксы Marvel 1500; манга 1300; «Ведьмак», полный цикл 2400; Стивен Кинг 1400; Достоевский, 10 томов 1900
    `,
    slots: {
      shelf: 'романы=novels; классика=classics; сказки=fairy tales; учебники=textbooks; детективы=detective stories',
      count: '3; 5; 7; 9; 12; 15; 20',
      years: '1978; 1985; 1989; 2008; 2014; 2019; 2022',
    },
    titles: `
      Книги: $model
      Книги: $model, $count шт.
      Книги — $model
    `,
    about: `
      ~ Всего $count книг, издание $years года, [страницы чистые|читались аккуратно|без пометок]
      ~ [Разбираю библиотеку|Освобождаем полки|Прочитаны, пусть порадуют других], [отдам только вместе|можно по одной]
      Книг: $count, издания $years года и новее, [твёрдый переплёт|есть с автографом|обложки целые]
    `,
    titlesEn: `
      $count books: $shelf
      Books, $shelf
    `,
    aboutEn: `
      ~ $count books printed about $years, clean pages, no notes
      Clearing the shelves, sold together [or one by one|only]
      $count books, hard covers
    `,
  }),
];
