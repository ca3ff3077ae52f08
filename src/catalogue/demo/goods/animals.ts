import { kind } from './kind.ts';

export const ANIMALS = [
  kind({
    category: 'животные',
    weight: 30,
    gender: 'm',
    wear: 'none',
    bulky: true,
    noun: 'котёнок',
    english: 'kitten',
    models: `
      -: британский 11000 x3; мейн-кун 27000 x2; шотландский вислоухий 12000 x2; сибирский 9500; сфинкс 15000; русский голубой 10000; в добрые руки 500 x2
    `,
    slots: {
      months: '2; 3; 4',
      colour: 'рыжий=ginger; серый=grey; чёрный=black; мраморный=marbled; белый=white',
      sex: 'мальчик=a boy; девочка=a girl',
    },
    titles: `
      Котёнок $model, $sex
      Котёнок, $model, $months месяца
    `,
    about: `
      $sex, окрас $colour, $months месяца. [К лотку приучен|Ест корм и мясо|Ласковый мурлыка]
      ~ Окрас $colour, [привит по возрасту|паспорт есть|проглистован], [играет и мурчит|не боится детей]. Возраст $months месяца, $sex
      Ищет дом: $sex, $months месяца, окрас $colour. [Глазки ясные, аппетит отличный|Приучен к когтеточке|Мама и папа живут с нами]
    `,
    titlesEn: `
      Kitten, $colour, $months months old
    `,
    aboutEn: `
      $sex, $colour, $months months old, litter trained and vaccinated
      $colour, $sex, $months months, eats everything and purrs
    `,
  }),
  kind({
    category: 'животные',
    weight: 22,
    gender: 'm',
    wear: 'none',
    bulky: true,
    noun: 'щенок',
    english: 'puppy',
    models: `
      -: хаски 15000 x2; корги 42000 x2; немецкой овчарки 17000 x2; шпица 33000 x2; лабрадора 21000; йоркширского терьера 24000; таксы 19000
    `,
    slots: {
      months: '2; 3; 4',
      sex: 'мальчик=a boy; девочка=a girl',
      parent:
        'родители с документами=parents have papers*1.1; мама живёт с нами=the mother lives with us; родителей можно увидеть=you can see the parents',
    },
    titles: `
      Щенок $model, $sex
      Щенок $model, $months месяца
    `,
    about: `
      $sex, $months месяца, $parent. [Привит и чипирован|Прививка первая сделана]
      Возраст $months месяца, $parent, [ест сухой корм|к пелёнке приучен|гуляет на поводке]. В доме [есть дети|есть кошка], ладит со всеми. Это $sex
      $sex, $parent, $months месяца, [активный и умный|спокойный характер|поможем с воспитанием]
    `,
    titlesEn: `
      Puppy, $sex, $months months old
    `,
    aboutEn: `
      $sex, $months months old, vaccinated, $parent
      $sex, $parent, $months months, playful and smart
    `,
  }),
  kind({
    category: 'животные',
    weight: 12,
    gender: 'm',
    wear: 'plain',
    bulky: true,
    noun: 'аквариум',
    english: 'aquarium',
    models: `
      Juwel: Rio 125 24000; Lido 120 26000
      AquaEl: Leddy 9500; Opti 14000
      Биодизайн: Классик 12000
      -: с тумбой 9000 x2; на 50 литров 3500; на 200 литров 11000
    `,
    slots: { extra: 'фильтр=a filter; компрессор=an air pump; светильник=a lamp; грунт и коряги=gravel and wood' },
    titles: `
      Аквариум $full
      Аквариум $full, $extra в комплекте
    `,
    about: `
      ~ Не течёт, $extra отдам, [рыбки уехали к друзьям|стекло без царапин|крышка целая]
      ~ [Вымыт и сухой|Запущен, можно посмотреть], [вывоз самостоятельно|помогу донести], в комплекте $extra
      В комплекте $extra, [стекло 6 мм|крышка с подсветкой]
      Отдаю вместе: $extra, корм[ и сачок|]
    `,
    titlesEn: `
      Aquarium $full
    `,
    aboutEn: `
      ~ No leaks, comes with $extra, clean and dry
      Comes with $extra and some fish food
    `,
  }),
];
